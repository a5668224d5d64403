"""The model as it was taken in: manifest, licence, weights, size, score."""
