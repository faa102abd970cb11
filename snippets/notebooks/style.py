"""What the plots of all notebooks look like: small, plain, with Chinese fonts."""

# --8<-- [start:style]
from matplotlib import font_manager, pyplot as plt

fonts = font_manager.fontManager.ttflist
fonts = {font.name for font in fonts}
han = "PingFang SC", "Microsoft YaHei"
han = *han, "Noto Sans CJK SC", "Noto Sans CJK JP"
han = [name for name in han if name in fonts]
plt.rcParams.update({
    "font.sans-serif": ["DejaVu Sans", *han],
    "font.size": 8,
    "figure.figsize": (3.6, 2.5),
    "figure.constrained_layout.use": True,
    "axes.titlesize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
})
# --8<-- [end:style]
