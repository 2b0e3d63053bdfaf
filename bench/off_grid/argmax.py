import torch


def program(x):
    return torch.argmax(x, dim=1)
