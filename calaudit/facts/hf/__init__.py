"""Reading the ``config.json`` of any Hugging Face model: pure functions from a JSON object to a typed architecture.

Every writer and version names things its own way (``n_head``, ``num_attention_heads``; ``rope_theta`` at the top or
inside ``rope_parameters``; a text model in a multimodal wrapper). What a config does not say is None, never a guess.
"""
