"""G0: the model is licensed, pinned, sized and wanted."""
