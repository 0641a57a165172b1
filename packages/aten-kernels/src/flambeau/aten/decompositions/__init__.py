"""What fused operators compute, in terms of other operators.

A record of class `fused` names one of these beside its kernel. They serve backends without the kernel and are the reference
that tests hold the kernel against, so they are written to be read: one formula after the other, no regard to speed.
"""
