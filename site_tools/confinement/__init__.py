"""What the process of a block can reach: its own folder, and nobody else."""
