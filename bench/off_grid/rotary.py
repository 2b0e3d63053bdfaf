# As models write it, with both halves of a head joined by a concatenation.
import torch


def program(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    rotated = torch.cat((-second, first), dim=-1)
    return x * cos + rotated * sin
