# The library's softmax, over scores that are capped and masked before it.
import torch
import torch.nn.functional as F


def program(x):
    capped = 50 * torch.tanh(0.02 * x)
    index = torch.arange(x.shape[-1], device=x.device)
    is_ahead = index > index.unsqueeze(1)
    return F.softmax(capped.masked_fill(is_ahead, float("-inf")), dim=-1)
