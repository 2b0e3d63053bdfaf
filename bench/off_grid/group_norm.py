# The library's group norm, which has the groups and their channels on one axis.
import torch.nn.functional as F


def program(x, weight, bias):
    groups = x.shape[1]
    y = F.group_norm(x.flatten(1, 2), groups, weight.flatten(), bias.flatten(), eps=1e-5)
    return y.view_as(x)
