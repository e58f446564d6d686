"""Everything that imports Faust: the app, the seams where it is bent, and the agents."""
