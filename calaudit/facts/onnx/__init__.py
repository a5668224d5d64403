"""What the exported model holds, from its bytes."""
