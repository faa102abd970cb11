# Thinks the epsilon is cosmetic and drops it, so equal numbers give 0 / 0.
import torch


def whiten(x, mask):
    picked = x[mask]
    centred = torch.where(mask, x - picked.mean(), torch.zeros_like(x))
    std = (centred.square().sum() / (picked.numel() - 1)).sqrt()
    return centred / std
