"""The parts of the PyTorch peer, which torch_peer.py starts. One topic per file.

A package, so that names such as `cases` do not clash with modules that PyTorch imports. A new file
needs a line in src/suite/peers/peer_scripts.cpp too.
"""
