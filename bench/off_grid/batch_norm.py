# The library's batch norm, with the statistics of the batch and none kept.
import torch.nn.functional as F


def program(x, weight, bias):
    return F.batch_norm(x, None, None, weight, bias, training=True, eps=1e-5)
