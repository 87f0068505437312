"""A campaign, or a corpus, as one HTML page that needs nothing else."""
