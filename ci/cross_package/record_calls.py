"""Sample calls of the operators whose arguments do not follow from their types: a line each.

t, p, fraction, z: a float tensor of that shape, a positive one, one in (0, 1), a complex one; i(below, ...): indices; m: a mask;
spd, tril: a positive definite matrix, a triangular one; const: as p, without a gradient. a, b, c, n, h, w: sizes, see `record_samples.py`.
"""

from __future__ import annotations

_TEXT = """
    # activation, arithmetic
    prelu: t(2, b, h), t(b)
    _prelu_kernel: t(a, b), t(a, b)
    div.Tensor_mode: t(a, b), p(b), rounding_mode='floor'
    _sgn_complex: z(a, b)
    gcd: i(50, a, b), i(50, b)
    lcm: i(50, a, b), i(50, b)
    conj_physical: z(a, b)
    clamp: t(a, b), -0.5, 0.7
    clamp.Tensor: t(a, b), -fraction(b), fraction(a, b)
    _clamp: t(a, b), -0.5, 0.7
    bitwise_not: i(99, a, b)
    bitwise_and.Tensor: i(99, a, b), i(99, b)
    bitwise_or.Tensor: i(99, a, b), i(99, b)
    bitwise_xor.Tensor: i(99, a, b), i(99, b)
    bitwise_left_shift.Tensor: i(99, a, b), i(5, b)
    bitwise_right_shift.Tensor: i(99, a, b), i(5, b)
    floor_divide: t(a, b), p(b)
    fmod.Tensor: t(a, b), p(b)
    remainder.Tensor: t(a, b), p(b)
    pow.Tensor_Tensor: p(a, b), t(b)
    float_power.Tensor_Tensor: p(a, b), t(b)
    polygamma: 2, p(a, b)
    mvlgamma: p(a, b) + 2, 2
    logit: fraction(a, b)
    histc: t(a, b), 6, -1, 1
    imag: z(a, b)
    real: z(a, b)
    complex: t(a, b), t(a, b)
    igamma: const(a, b), p(a, b)
    igammac: const(a, b), p(a, b)
    special_zeta: const(a, b) + 1.5, p(a, b)

    polar: p(a, b), t(a, b)
    linalg_svd: t(a, b), False
    logit_backward: t(a, b), fraction(a, b), 0.3

    # attention
    _scaled_dot_product_flash_attention_for_cpu: t(2, 2, b, c), t(2, 2, a, c), t(2, 2, a, c)
    _scaled_dot_product_flash_attention_for_cpu_backward: t(2, 2, b, c), t(2, 2, b, c), t(2, 2, b, c), t(2, 2, b, c), t(2, 2, b, c), p(2, 2, b), 0.0, False
    _scaled_dot_product_attention_math: t(2, 2, b, c), t(2, 2, a, c), t(2, 2, a, c)
    scaled_dot_product_attention: t(2, 2, b, c), t(2, 2, a, c), t(2, 2, a, c)
    _attention_gradients: t(2, 2, b, c), t(2, 2, b, c), t(2, 2, b, c), t(2, 2, b, c), False, None, None

    # convolution, linear
    convolution: t(2, 4, h, w), t(6, 2, 3, 3), t(6), [1, 2], [1, 0], [1, 1], False, [0, 0], 2
    convolution_backward: t(2, 6, h, w), t(2, 4, h, w), t(6, 2, 3, 3), [6], [1, 1], [1, 1], [1, 1], False, [0, 0], 2, [True, True, True]
    conv1d: t(2, 4, w), t(6, 2, 3), t(6), 2, 1, 1, 2
    conv1d.padding: t(2, 4, w), t(6, 4, 3), None, 1, 'same'
    conv2d: t(2, 4, h, w), t(6, 4, 3, 3), t(6), 1, 1
    conv2d.padding: t(2, 4, h, w), t(6, 4, 3, 3), t(6), 1, 'same'
    conv3d: t(1, 2, 4, h, w), t(3, 2, 2, 3, 3), t(3)
    conv3d.padding: t(1, 2, 4, h, w), t(3, 2, 3, 3, 3), None, 1, 'same'
    conv_transpose1d: t(2, 4, w), t(4, 3, 3), t(3), 2, 1, 1
    conv_transpose2d.input: t(2, 4, h, w), t(4, 3, 3, 3), t(3), 2, 1, 1
    conv_transpose3d.input: t(1, 2, 4, h, w), t(2, 3, 2, 2, 2), t(3)
    conv_tbc: t(w, 2, 4), t(3, 4, 5), t(5), 1
    linear: t(a, b), t(c, b), t(c)
    bilinear: t(h, 3), t(h, 4), t(5, 3, 4), t(5)

    # creation
    empty_strided: [a, b], [b, 1]
    new_empty_strided: t(2), [a, b], [b, 1]
    empty_permuted: [a, b], [1, 0]
    fill_.Tensor: t(a, b), t()
    fill.Tensor: t(a, b), t()
    linspace.Tensor_Tensor: t(), t(), 7
    logspace.Tensor_Tensor: t(), t(), 7
    tril_indices: a, b
    triu_indices: a, b
    randint.low: 2, 50, [a, b]
    randint: 50, [a, b]
    randint_like: t(a, b), 50
    randint_like.low_dtype: t(a, b), 2, 50
    random_.from: t(a, b), 2, 50
    random_.to: t(a, b), 50
    multinomial: p(a, b), 2
    native_dropout: t(a, b), 0.5, True
    bernoulli: fraction(a, b)
    bernoulli_.Tensor: t(a, b), fraction(a, b)
    poisson: p(a, b)
    normal.Tensor_Tensor: t(a, b), p(a, b)
    normal.float_Tensor: 0.5, p(a, b)
    normal.float_float: 0.5, 2.0, [a, b]

    # distances and losses
    cosine_similarity: t(a, b), t(a, b)
    cosine_embedding_loss: t(a, b), t(a, b), i(2, a) * 2 - 1
    hinge_embedding_loss: t(a, b), i(2, a, b) * 2 - 1
    margin_ranking_loss: t(a), t(a), i(2, a) * 2 - 1
    soft_margin_loss: t(a, b), i(2, a, b).double() * 2 - 1
    multi_margin_loss: t(a, b), i(b, a)
    multilabel_margin_loss: t(a, b), i(2, a, b) - 1
    nll_loss: t(a, b), i(b, a), const(b)
    nll_loss_forward: t(a, b), i(b, a), const(b), 1, -100
    nll_loss_backward: t(), t(a, b), fl.arange(a) % b, fl.ones(b, dtype=dt), 1, -100, fl.tensor(float(a), dtype=dt)
    nll_loss2d: t(2, b, h, w), i(b, 2, h, w), const(b)
    nll_loss2d_forward: t(2, b, h, w), i(b, 2, h, w), const(b), 1, -100
    nll_loss2d_backward: t(), t(2, b, h, w), i(b, 2, h, w), fl.ones(b, dtype=dt), 1, -100, fl.tensor(2.0 * h * w, dtype=dt)
    nll_loss_nd: t(2, b, h, w), i(b, 2, h, w), const(b)
    cross_entropy_loss: t(a, b), i(b, a)
    _cross_entropy_dense: t(a, b), fraction(a, b), const(b), 1, -100, 0.1
    binary_cross_entropy: fraction(a, b), fraction(a, b)
    _binary_cross_entropy_each: fraction(a, b), fraction(a, b)
    kl_div: t(a, b), fraction(a, b)
    poisson_nll_loss: t(a, b), p(a, b), True, False, 1e-8, 1
    ctc_loss.IntList: t(8, 2, 5).log_softmax(2), i(4, 2, 3) + 1, [8, 7], [3, 2]
    ctc_loss.Tensor: t(8, 2, 5).log_softmax(2), i(4, 2, 3) + 1, fl.tensor([8, 7]), fl.tensor([3, 2])

    # embedding
    embedding: t(b, c), i(b, 7, 2)
    embedding_dense_backward: t(7, 2, c), i(b, 7, 2), b, -1, False
    embedding_renorm_: t(b, c), i(b, 3), 0.5, 2.0
    _embedding_bag: t(b, c), i(b, 8), fl.tensor([0, 3, 5])
    embedding_bag: t(b, c), i(b, 8), fl.tensor([0, 3, 5])
    embedding_bag.padding_idx: t(b, c), i(b, 8), fl.tensor([0, 3, 5]), False, 1, False, None, False, 1
    _embedding_bag_dense_backward: t(3, c), i(b, 8), fl.tensor([0, 0, 0, 1, 1, 2, 2, 2]), fl.tensor([3, 2, 3]), fl.zeros(0, dtype=fl.int64), b, False, 0, None
    _embedding_bag_per_sample_weights_backward: t(3, c), t(b, c), i(b, 8), fl.tensor([0, 3, 5]), fl.tensor([0, 0, 0, 1, 1, 2, 2, 2]), 0

    # fourier
    _fft_c2c: z(a, b), [1], 0, True
    stft: t(64), 16, 4, 16, const(16), return_complex=True
    istft: fl.stft(t(64), 16, 4, 16, fl.hann_window(16, dtype=dt), return_complex=True), 16, 4, 16, fl.hann_window(16, dtype=dt)

    # index
    index.Tensor: t(a, b), [i(a, 2), None]
    index_put: t(a, b), [fl.tensor([2, 0])], t(2, b)
    nonzero_static: t(a, b), size=5
    gather: t(a, b), 1, i(b, a, 3)
    scatter.src: t(a, b), 1, fl.tensor([[2, 0, 1]]), t(2, 3)
    scatter.value: t(a, b), 1, fl.tensor([[2, 0, 1]]), 0.5
    scatter.reduce: t(a, b), 1, i(b, 2, 3), t(2, 3), reduce='multiply'
    scatter.value_reduce: t(a, b), 1, i(b, 2, 3), 0.5, reduce='multiply'
    scatter_add: t(a, b), 1, i(b, 2, 3), t(2, 3)
    scatter_reduce.two: t(a, b), 1, i(b, 2, 3), t(2, 3), 'sum'
    index_select: t(a, b), 1, i(b, 3)
    index_add: t(a, b), 1, i(b, 3), t(a, 3)
    index_copy: t(a, b), 1, fl.tensor([2, 0]), t(a, 2)
    index_fill.int_Scalar: t(a, b), 1, i(b, 2), 0.5
    index_fill.int_Tensor: t(a, b), 1, i(b, 2), t()
    index_reduce: t(a, b), 1, i(b, 3), t(a, 3), 'mean'
    take: t(a, b), i(a * b, 5)
    put: t(a, b), fl.tensor([3, 1, 0]), t(3)
    masked_fill.Tensor: t(a, b), m(a, b), t()
    masked_scatter: t(a, b), m(a, b), t(a, b)
    take_along_dim: t(a, b), i(b, a, 2), 1
    where: m(a, b)
    one_hot: i(4, a, b), 5
    unravel_index: i(6, a), [2, 3]
    searchsorted.Tensor: t(b).sort()[0], t(a)
    searchsorted.Scalar: t(b).sort()[0], 0.5
    bucketize.Tensor: t(a, b), t(c).sort()[0]
    bucketize.Scalar: 0.5, t(c).sort()[0]
    bincount: i(6, b), const(b)
    _unsafe_masked_index: t(a, b), m(2), [i(a, 2), i(b, 2)], 0.0
    _unsafe_masked_index_put_accumulate: t(a, b), m(2), [i(a, 2), i(b, 2)], t(2)
    isin.Tensor_Tensor: i(5, a, b), i(5, 2)

    # linear algebra
    cholesky_inverse: spd(n).tril()
    cholesky_solve: t(n, 2), tril(n)
    _lu_solve: t(n, n), fl.arange(1, n + 1, dtype=fl.int32), t(n, 2)
    _pivots_to_permutation: fl.tensor([2, 2, 3], dtype=fl.int32), 3
    linalg_householder_product: t(n, 2), t(2)
    ormqr: t(n, 2), t(2), t(n, n)
    _linalg_lstsq: t(n + 2, n), t(n + 2, 2), None, 'gelsd'
    linalg_ldl_solve: t(n, n), fl.arange(1, n + 1, dtype=fl.int32), t(n, 2)
    linalg_cholesky: spd(n)
    linalg_cholesky_ex: spd(n)
    cholesky: spd(n)
    lu_unpack: t(n, n), fl.arange(1, n + 1, dtype=fl.int32)
    linalg_lu_solve: t(n, n), fl.arange(1, n + 1, dtype=fl.int32), t(n, 2)
    lu_solve: t(n, 2), t(n, n), fl.arange(1, n + 1, dtype=fl.int32)
    linalg_lstsq: t(n + 2, n), t(n + 2, 2)
    _linalg_eigh: spd(n)
    linalg_eigh: spd(n)
    linalg_eigvalsh: spd(n)
    logdet: spd(n)
    linalg_ldl_factor_ex: spd(n)
    linalg_ldl_factor: spd(n)
    linalg_solve: spd(n), t(n, 2)
    _linalg_solve: spd(n), t(n, 2)
    linalg_solve_ex: spd(n), t(n, 2)
    linalg_solve_triangular: tril(n), t(n, 2), upper=False
    triangular_solve: t(n, 2), tril(n), False
    _pinv: t(a, b), fl.tensor(0.0, dtype=dt), fl.tensor(1e-10, dtype=dt), False
    linalg_pinv: t(a, b), 1e-10
    linalg_pinv.rcond_tensor: t(a, b), fl.tensor(1e-10, dtype=dt)
    linalg_matrix_rank: t(a, b), 1e-5
    linalg_matrix_rank.tol_tensor: t(a, b), fl.tensor(1e-5, dtype=dt)
    linalg_cond.p_str: spd(n), 'fro'
    linalg_matrix_norm: t(a, b), 2
    linalg_norm.ord_str: t(a, b), 'nuc'
    nuclear_norm: t(a, b)
    nuclear_norm.dim: t(a, b), [0, 1]
    linalg_tensorinv: t(4, 6, 3, 8)
    linalg_tensorsolve: t(2, 3, 6), t(2, 3)
    linalg_cross: t(a, 3), t(a, 3)
    cross: t(a, 3), t(a, 3)
    linalg_multi_dot: [t(a, b), t(b, c), t(c, a)]
    mm: t(a, b), t(b, c)
    bmm: t(2, a, b), t(2, b, c)
    mv: t(a, b), t(b)
    dot: t(b), t(b)
    vdot: t(b), t(b)
    addmm: t(a, c), t(a, b), t(b, c), beta=0.5, alpha=2
    addbmm_: t(a, c), t(2, a, b), t(2, b, c), beta=0.5, alpha=2
    _foreach_mul_.Scalar: [t(a, b)], 2
    _foreach_mul_.List: [t(a, b)], [t(a, b)]
    linalg_vander: t(b)
    pdist: t(9, b)
    baddbmm: t(2, a, c), t(2, a, b), t(2, b, c), beta=0.5, alpha=2
    addbmm: t(a, c), t(2, a, b), t(2, b, c), beta=0.5, alpha=2
    addmv: t(a), t(a, b), t(b), beta=0.5, alpha=2
    addr: t(a, b), t(a), t(b), beta=0.5, alpha=2
    matmul: t(2, a, b), t(b, c)
    outer: t(a), t(b)
    inner: t(a, b), t(c, b)
    _matrix_exp: fraction(n, n)
    linalg_matrix_exp: fraction(n, n)
    matrix_exp: fraction(n, n)

    # normalisation
    _batch_norm_core: t(2, b, h, w), t(b), t(b), None, None, True, 0.1, 1e-5
    native_batch_norm_backward: t(2, b, h, w), t(2, b, h, w), t(b), None, None, const(b), const(b), True, 1e-5, [True, True, True]
    batch_norm: t(2, b, h, w), t(b), t(b), None, None, True, 0.1, 1e-5, False
    native_batch_norm: t(2, b, h, w), t(b), t(b), const(b), const(b), False, 0.1, 1e-5
    _native_batch_norm_legit: t(2, b, h, w), t(b), t(b), const(b), const(b), True, 0.1, 1e-5
    _native_batch_norm_legit.no_stats: t(2, b, h, w), t(b), t(b), True, 0.1, 1e-5
    _batch_norm_with_update: t(2, b, h, w), t(b), t(b), const(b), const(b), 0.1, 1e-5
    native_layer_norm: t(a, b), [b], t(b), t(b), 1e-5
    native_layer_norm_backward: t(a, b), t(a, b), [b], const(a, 1), const(a, 1), t(b), t(b), [True, True, True]
    layer_norm: t(a, b), [b], t(b), t(b)
    _fused_rms_norm: t(a, b), [b], t(b), 1e-5
    _fused_rms_norm_backward: t(a, b), t(a, b), [b], const(a, 1), t(b), [True, True]
    rms_norm: t(a, b), [b], t(b)
    native_group_norm: t(2, 4, h, w), t(4), t(4), 2, 4, h * w, 2, 1e-5
    native_group_norm_backward: t(2, 4, h, w), t(2, 4, h, w), const(2, 2), const(2, 2), t(4), 2, 4, h * w, 2, [True, True, True]
    group_norm: t(2, 4, h, w), 2, t(4), t(4)
    instance_norm: t(2, b, h, w), t(b), t(b), None, None, True, 0.1, 1e-5, False
    _rms_norm_complex: z(a, b), [b], None, 1e-5
    _norm_gradients: t(a, b), t(a, b), [1], t(b), 1e-5, True

    # optimizers
    _fused_adam_: [t(a, b)], [t(a, b)], [t(a, b)], [p(a, b)], [], [fl.tensor(1.0)], lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.1, eps=1e-8, amsgrad=False, maximize=False
    _fused_adamw_: [t(a, b)], [t(a, b)], [t(a, b)], [p(a, b)], [], [fl.tensor(1.0)], lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.1, eps=1e-8, amsgrad=False, maximize=False
    _fused_sgd_: [t(a, b)], [t(a, b)], [t(a, b)], weight_decay=0.1, momentum=0.9, lr=0.1, dampening=0.0, nesterov=False, maximize=False, is_first_step=False
    _fused_adagrad_: [t(a, b)], [t(a, b)], [p(a, b)], [fl.tensor(1.0)], lr=0.1, lr_decay=0.1, weight_decay=0.1, eps=1e-8, maximize=False
    _fused_rmsprop_: [t(a, b)], [t(a, b)], [p(a, b)], [], [], lr=0.1, alpha=0.9, eps=1e-8, weight_decay=0.1, momentum=0.0, centered=False, maximize=False

    # pooling
    max_pool2d_with_indices: t(2, 2, h, w), 2
    max_pool2d_with_indices_backward: t(2, 2, h // 2, w // 2), t(2, 2, h, w), [2, 2], [2, 2], [0, 0], [1, 1], False, i(4, 2, 2, h // 2, w // 2)
    max_pool3d_with_indices: t(1, 2, 4, h, w), 2
    max_pool3d_with_indices_backward: t(1, 2, 2, h // 2, w // 2), t(1, 2, 4, h, w), [2, 2, 2], [2, 2, 2], [0, 0, 0], [1, 1, 1], False, i(4, 1, 2, 2, h // 2, w // 2)
    max_pool1d_with_indices: t(2, b, w), 2
    max_pool1d: t(2, b, w), 2
    max_pool2d: t(2, 2, h, w), 2
    max_pool3d: t(1, 2, 4, h, w), 2
    avg_pool1d: t(2, b, w), 2
    avg_pool2d: t(2, 2, h, w), [2, 2]
    avg_pool3d: t(1, 2, 4, h, w), [2, 2, 2]
    avg_pool2d_backward: t(2, 2, h // 2, w // 2), t(2, 2, h, w), [2, 2], [2, 2], [0, 0], False, True, None
    avg_pool3d_backward: t(1, 2, 2, h // 2, w // 2), t(1, 2, 4, h, w), [2, 2, 2], [2, 2, 2], [0, 0, 0], False, True, None
    _adaptive_avg_pool2d: t(2, 2, h, w), [3, 2]
    adaptive_avg_pool2d: t(2, 2, h, w), [3, 2]
    _adaptive_avg_pool2d_backward: t(2, 2, 3, 2), t(2, 2, h, w)
    adaptive_max_pool2d: t(2, 2, h, w), [3, 2]
    adaptive_max_pool2d_backward: t(2, 2, 3, 2), t(2, 2, h, w), i(4, 2, 2, 3, 2)
    _adaptive_avg_pool3d: t(2, 2, 4, h, w), [2, 3, 2]
    adaptive_avg_pool3d: t(2, 2, 4, h, w), [2, 3, 2]
    _adaptive_avg_pool3d_backward: t(2, 2, 2, 3, 2), t(2, 2, 4, h, w)
    adaptive_max_pool3d: t(2, 2, 4, h, w), [2, 3, 2]
    adaptive_max_pool3d_backward: t(2, 2, 2, 3, 2), t(2, 2, 4, h, w), i(4, 2, 2, 2, 3, 2)
    adaptive_avg_pool1d: t(2, b, w), 3
    adaptive_max_pool1d: t(2, b, w), 3
    max_unpool2d: t(1, 2, 2, 2), fl.tensor([[0, 3], [9, 11]]).expand(1, 2, 2, 2), [4, 4]
    max_unpool3d: t(1, 2, 1, 2, 2), fl.tensor([[0, 3], [9, 11]]).expand(1, 2, 1, 2, 2), [2, 4, 4], [2, 2, 2], [0, 0, 0]
    fractional_max_pool2d: t(2, 2, h, w), [2, 2], [3, 2], const(2, 2, 2) - 0.5
    fractional_max_pool3d: t(2, 2, 4, h, w), [2, 2, 2], [2, 3, 2], const(2, 2, 3) - 0.5

    # reductions and sorting
    nansum: t(a, b), 1
    segment_reduce: t(8, 2), 'sum', lengths=fl.tensor([3, 2, 3])
    sort.stable: t(a, b), stable=True
    topk: t(a, b), 2
    std.dim: t(a, b), 1
    var.dim: t(a, b), 1
    logsumexp: t(a, b), 1
    count_nonzero.dim_IntList: t(a, b), [1]
    _norm: t(a, b), 2.0, [1]
    _var: t(a, b), 1.0, [1]
    _var_mean: t(a, b), 1.0, [1]
    quantile: t(a, b), fl.tensor([0.3, 0.6], dtype=dt), 1
    nanquantile: t(a, b), fl.tensor([0.3, 0.6], dtype=dt), 1
    renorm: t(a, b), 2, 0, 0.5
    histogram.bins_tensor: t(a * b), fl.linspace(-2, 2, 7, dtype=dt)
    histogram.bin_ct: t(a * b), 6
    repeat_interleave.Tensor: fl.tensor([2, 0, 3])
    repeat_interleave.self_Tensor: t(a, 3), fl.tensor([2, 0, 3]), 1
    cov: t(a, b)

    # shape
    reshape: t(a, b), [b, a]
    _local_scalar_dense: t()
    _unsafe_view: t(a, b), [a * b]
    broadcast_to: t(b), [a, b]
    expand: t(b), [a, b]
    expand_copy: t(b), [a, b]
    narrow: t(a, b), 1, 1, 2
    narrow_copy: t(a, b), 1, 1, 2
    narrow.Tensor: t(a, b), 1, fl.tensor(1), 2
    movedim.int: t(2, a, b), 0, 2
    movedim.intlist: t(2, a, b), [0, 1], [2, 0]
    moveaxis.int: t(2, a, b), 0, 2
    moveaxis.intlist: t(2, a, b), [0, 1], [2, 0]
    repeat: t(a, b), [2, 3]
    roll: t(a, b), 1, 1
    diagonal_scatter: t(n, n), t(n)
    select_scatter: t(a, b), t(b), 0, 1
    slice_scatter: t(a, b), t(2, b), 0, 1, 3
    as_strided_scatter: t(a, b), t(2, 2), [2, 2], [b, 1], 1
    as_strided: t(a, b), [2, 2], [b, 1], 1
    as_strided_copy: t(a, b), [2, 2], [b, 1], 1
    constant_pad_nd: t(a, b), [1, 2, 0, 1], 0.5
    pad: t(a, b), [1, 2]
    reflection_pad1d: t(2, b, w), [1, 2]
    reflection_pad2d: t(2, 2, h, w), [1, 2, 2, 1]
    reflection_pad3d: t(1, 2, 4, h, w), [1, 2, 2, 1, 1, 2]
    replication_pad1d: t(2, b, w), [1, 2]
    replication_pad2d: t(2, 2, h, w), [1, 2, 2, 1]
    replication_pad3d: t(1, 2, 4, h, w), [1, 2, 2, 1, 1, 2]
    tensor_split.tensor_indices_or_sections: t(a, b), fl.tensor([1, 2])
    hsplit.int: t(a, 4), 2
    vsplit.int: t(4, b), 2
    dsplit.int: t(2, 3, 4), 2
    chunk: t(a, b), 2
    unsafe_chunk: t(a, b), 2
    cat: [t(a, b), t(2, b)]
    stack: [t(a, b), t(a, b)], 1
    _chunk_cat: [t(4, b), t(2, b)], 0, 2
    _meshgrid: [t(a), t(b)]
    _cartesian_prod: [t(a), t(4)]
    combinations: t(6), 2
    sum_to_size: t(a, b), [b]
    unflatten.int: t(a, 6), 1, [2, 3]
    unfold: t(a, b), 1, 2, 1
    unfold_copy: t(a, b), 1, 2, 1
    view: t(a, b), [b, a]
    view_copy: t(a, b), [b, a]
    permute: t(2, a, b), [2, 0, 1]
    permute_copy: t(2, a, b), [2, 0, 1]
    split.sizes: t(a, 4), [1, 3], 1
    split_with_sizes: t(a, 4), [1, 3], 1
    split_with_sizes_copy: t(a, 4), [1, 3], 1
    unsafe_split_with_sizes: t(a, 4), [1, 3], 1
    split.Tensor: t(a, b), 2, 1
    split_copy.Tensor: t(a, b), 2, 1
    unsafe_split.Tensor: t(a, b), 2, 1
    view_as_real: z(a, b)
    view_as_real_copy: z(a, b)
    view_as_complex: t(a, b, 2)
    view_as_complex_copy: t(a, b, 2)
    slice.Tensor: t(a, b), 1, 1, 4, 2
    slice_copy.Tensor: t(a, b), 1, 1, 4, 2
    channel_shuffle: t(2, 4, h, w), 2
    native_channel_shuffle: t(2, 4, h, w), 2
    pixel_shuffle: t(2, 4, h, w), 2
    pixel_unshuffle: t(2, 2, 6, 8), 2
    col2im: t(2, 8, 6), [3, 4], [2, 2], [1, 1], [0, 0], [1, 1]
    im2col: t(2, 2, h, w), [2, 2], [1, 1], [0, 0], [1, 1]

    kron: t(a, b), t(2, 3)
    diagflat: t(b)
    diag_embed: t(a, 5)
    _block_diag: [t(a, 5), t(2, b)]

    # softmax
    _softmax: t(a, b), 1, False
    _log_softmax: t(a, b), 1, False
    _softmax_backward_data: t(a, b), fraction(a, b), 1, dt
    _log_softmax_backward_data: t(a, b), t(a, b), 1, dt

    # images
    grid_sampler: t(2, 2, h, w), fraction(2, 3, 4, 2) * 2 - 1, 0, 0, False
    grid_sampler_2d: t(2, 2, h, w), fraction(2, 3, 4, 2) * 2 - 1, 0, 0, False
    grid_sampler_3d: t(2, 2, 4, h, w), fraction(2, 3, 4, 2, 3) * 2 - 1, 0, 0, False
    affine_grid_generator: t(2, 2, 3), [2, 2, h, w], False
    upsample_nearest1d: t(2, 2, w), [5]
    upsample_nearest1d.vec: t(2, 2, w), [5], None
    upsample_nearest1d_backward: t(2, 2, 5), [5], [2, 2, w]
    upsample_nearest2d: t(2, 2, h, w), [4, 9]
    upsample_nearest2d.vec: t(2, 2, h, w), [4, 9], None
    upsample_nearest2d_backward: t(2, 2, 4, 9), [4, 9], [2, 2, h, w]
    upsample_nearest3d: t(2, 2, 4, h, w), [3, 4, 9]
    upsample_nearest3d.vec: t(2, 2, 4, h, w), [3, 4, 9], None
    upsample_nearest3d_backward: t(2, 2, 3, 4, 9), [3, 4, 9], [2, 2, 4, h, w]
    _upsample_nearest_exact1d: t(2, 2, w), [5]
    _upsample_nearest_exact1d.vec: t(2, 2, w), [5], None
    _upsample_nearest_exact1d_backward: t(2, 2, 5), [5], [2, 2, w]
    _upsample_nearest_exact2d: t(2, 2, h, w), [4, 9]
    _upsample_nearest_exact2d.vec: t(2, 2, h, w), [4, 9], None
    _upsample_nearest_exact2d_backward: t(2, 2, 4, 9), [4, 9], [2, 2, h, w]
    _upsample_nearest_exact3d: t(2, 2, 4, h, w), [3, 4, 9]
    _upsample_nearest_exact3d.vec: t(2, 2, 4, h, w), [3, 4, 9], None
    _upsample_nearest_exact3d_backward: t(2, 2, 3, 4, 9), [3, 4, 9], [2, 2, 4, h, w]
    upsample_linear1d: t(2, 2, w), [5], False
    upsample_linear1d.vec: t(2, 2, w), [5], False, None
    upsample_linear1d_backward: t(2, 2, 5), [5], [2, 2, w], False
    upsample_bilinear2d: t(2, 2, h, w), [4, 9], False
    upsample_bilinear2d.vec: t(2, 2, h, w), [4, 9], False, None
    upsample_bilinear2d_backward: t(2, 2, 4, 9), [4, 9], [2, 2, h, w], False
    upsample_trilinear3d: t(2, 2, 4, h, w), [3, 4, 9], False
    upsample_trilinear3d.vec: t(2, 2, 4, h, w), [3, 4, 9], False, None
    upsample_trilinear3d_backward: t(2, 2, 3, 4, 9), [3, 4, 9], [2, 2, 4, h, w], False
    upsample_bicubic2d: t(2, 2, h, w), [4, 9], False
    upsample_bicubic2d.vec: t(2, 2, h, w), [4, 9], False, None
    upsample_bicubic2d_backward: t(2, 2, 4, 9), [4, 9], [2, 2, h, w], False
    _upsample_bilinear2d_aa: t(2, 2, h, w), [4, 9], False
    _upsample_bilinear2d_aa.vec: t(2, 2, h, w), [4, 9], False, None
    _upsample_bilinear2d_aa_backward: t(2, 2, 4, 9), [4, 9], [2, 2, h, w], False
    _upsample_bicubic2d_aa: t(2, 2, h, w), [4, 9], False
    _upsample_bicubic2d_aa.vec: t(2, 2, h, w), [4, 9], False, None
    _upsample_bicubic2d_aa_backward: t(2, 2, 4, 9), [4, 9], [2, 2, h, w], False
    _upsample_lanczos2d_aa: t(2, 2, h, w), [4, 9], False
    _upsample_lanczos2d_aa.vec: t(2, 2, h, w), [4, 9], False, None
    _upsample_lanczos2d_aa_backward: t(2, 2, 4, 9), [4, 9], [2, 2, h, w], False
"""

CALLS: dict[str, str] = dict(
    line.strip().split(": ", 1) for line in _TEXT.splitlines() if line.strip() and not line.strip().startswith("#")
)
