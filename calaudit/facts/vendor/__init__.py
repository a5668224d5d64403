"""What the vendor brought and says."""
