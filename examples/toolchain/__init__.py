"""The toolchain of the example port: from a frozen tiny checkpoint to the evidence of G0, G1 and G2, without torch.

``python -m examples.toolchain build OUT`` makes the port directory. The stations, one module each:

- :mod:`~examples.toolchain.freeze`: an FP32 Hugging Face folder becomes the frozen BF16 source (done once, by hand);
- :mod:`~examples.toolchain.checkpoint`, :mod:`~examples.toolchain.source`: reading it, and its manifest (G0);
- :mod:`~examples.toolchain.corpus`, :mod:`~examples.toolchain.prompts`: the prompt corpus;
- :mod:`~examples.toolchain.llama`: the model in numpy, float32 and bfloat16;
- :mod:`~examples.toolchain.reference`, :mod:`~examples.toolchain.golden`, :mod:`~examples.toolchain.quality`,
  :mod:`~examples.toolchain.conformance`: what the model answers, and what is kept of it (G1);
- :mod:`~examples.toolchain.decoder_graph`, :mod:`~examples.toolchain.export`: the same model as ONNX (G2);
- ``template/``: what of the port is written by hand: ``port.yaml``, its scripts and configs, the vendor's matrix;
- :mod:`~examples.toolchain.build`: puts it together and runs the steps of ``port.yaml``, one process each.

``OPENBLAS_NUM_THREADS=1`` must be set before numpy is imported: with more threads OpenBLAS adds in another order.
``build`` does that for the steps it runs. On another CPU results differ within tolerance, never in a greedy token.
"""
