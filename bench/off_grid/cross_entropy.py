# As in the program file: the class is picked by a comparison. F.cross_entropy would read one element
# instead, and refuse the classes below 0 that random targets contain.
import torch
import torch.nn.functional as F


def program(x, target):
    log_p = F.log_softmax(x, dim=1)
    classes = torch.arange(x.shape[1], device=x.device)
    picked = torch.where(classes == target.unsqueeze(1), log_p, 0.0)
    return -picked.sum() / x.shape[0]
