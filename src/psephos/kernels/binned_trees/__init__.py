"""Trees grown on columns cut into bins: forests, histograms of gradients."""
