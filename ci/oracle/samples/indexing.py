"""Python's forms of indexing, and the operators that gather and scatter."""

from __future__ import annotations

from . import lines

SAMPLES = [
    *lines("a", """
        t(4, 5)[1]
        t(4, 5)[1:3]
        t(4, 5)[:, ::2]
        t(4, 5)[..., None]
        t(4, 5)[-1, -1]
        t(4, 5)[i(4, 3)]
        t(4, 5)[i(4, 3), i(5, 3)]
        t(4, 5)[m(4)]
        t(4, 5)[m(4, 5)]
        t(4, 5, 6)[:, i(5, 2)]
        t(4, 5, 6)[i(4, 2), :, i(6, 2)]
        t(4, 5)[[0, 2]]
        t(4, 5)[None, 1, ..., 1:]
        t(3)[True]
        t(4, 5)[i(4, 2, 3)]
        fl.index_select(t(4, 5), 1, i(5, 3))
        fl.gather(t(3, 4), 1, i(4, 3, 2))
        fl.take_along_dim(t(3, 4), i(4, 3, 2), 1)
        fl.masked_fill(t(3, 4), m(3, 4), 1)
        fl.masked_select(t(3, 4), m(4))
        fl.scatter(t(3, 4), 1, i(4, 3, 1), t(3, 4))
        fl.scatter(t(3, 4), 1, i(4, 3, 1), 1)
        fl.nonzero(t(3, 4))
        fl.nonzero(t(9), as_tuple=True)
        fl.argwhere(t(3, 2))
        fl.take(t(3, 4), i(12, 5))
        t(4, 5)[t(4, 5) != 0]
        t(4, 5)[i(4, 3), 1:3]
        t(4, 5)[..., i(5, 3)]
        t(4, 5)[None, i(4, 2)]
        t(4, 5)[m(4), 1]
        t(4, 5)[1, m(5)]
        t(4, 5)[:, None, 1::2]
        t()[None]
        t()[...]
        t(0, 5)[:, 2]
        t(4, 5)[4:]
        t(4, 5)[i(4, 0)]
        t(3).__setitem__(1, 7) or t(3)
        fl.index_put(t(4, 5), (i(4, 3), i(5, 3)), t())
        fl.index_put(t(4), (fl.tensor([2, 0]),), t(2))
        fl.masked_fill(t(3, 4), m(4), t())
        fl.masked_scatter(t(3, 4), m(3, 4), t(12))
        fl.nonzero_static(t(9), size=5)
        fl.put(t(3, 4), fl.tensor([5, 2]), t(2))
        fl.scatter(t(3, 4), 0, fl.tensor([[0, 1, 2, 0]]), 3)
        fl.where(m(3, 4))
        fl.take_along_dim(t(3, 4), i(12, 5))
    """),
    *lines("n", """
        fl.scatter_add(t(3, 4), 1, i(4, 3, 5), t(3, 5))
        t(4, 3).index_add_(0, i(4, 5), t(5, 3))
        t(4).index_put_((i(4, 3),), t(3), accumulate=True)
        fl.index_add(t(4, 3), 0, i(4, 5), t(5, 3), alpha=2)
        t(3, 4).masked_fill_(m(3, 4), 0)
        fl.index_copy(t(4, 3), 0, fl.tensor([2, 0]), t(2, 3))
        fl.index_fill(t(4, 3), 0, i(4, 2), 1)
        fl.put(t(3, 4), i(12, 5), t(5), accumulate=True)
        fl.scatter(t(3, 4), 1, i(4, 3, 5), t(3, 5), reduce='add')
        fl.scatter_reduce(t(3, 4), 1, i(4, 3, 5), t(3, 5), 'sum')
        fl.scatter_reduce(t(3, 4), 1, i(4, 3, 5), t(3, 5), 'amax', include_self=False)
        fl.scatter_reduce(t(3, 4), 1, i(4, 3, 5), t(3, 5), 'mean')
        fl.scatter_reduce(t(3, 4), 1, i(4, 3, 5), p(3, 5), 'prod')
        fl.index_reduce(t(4, 3), 0, i(4, 5), t(5, 3), 'amin')
        fl.index_reduce(t(4, 3), 0, i(4, 5), p(5, 3), 'prod')
        fl.bucketize(t(9), fl.sort(t(4))[0])
        fl.bucketize(t(9), fl.sort(t(4))[0], right=True, out_int32=True)
        fl.searchsorted(fl.sort(t(3, 9))[0], t(3, 2), side='right')
        fl.isin(t(9), t(3))
    """),
    *lines("i", """
        fl.bincount(i(5, 9))
        fl.bincount(i(5, 9), f(9), 8)
        F.one_hot(p(3) % 3, 4)
    """),
    *lines("-", """
        F.one_hot(i(4, 5), 6)
        t(3)[5]
        t(3)[1, 1]
        t(3)[i(9, 4) + 3]
        t(3)[m(4)]
        t(3)['a']
        fl.gather(t(3, 4), 1, f(3, 2))
        fl.gather(t(3, 4), 1, i(4, 3, 2) + 9)
        fl.index_select(t(3), 1, i(2, 2))
        fl.index_select(t(3), 0, i(2, 2) + 8)
        fl.scatter(t(3), 0, i(2, 2) + 8, 1.0)
        F.one_hot(f(3))
        t(4, 5)[1, 2, 3]
        t(4, 5)[0.5]
        t(4, 5)[::-1]
        t(4, 5)[fl.tensor([0.5])]
        fl.index_fill(t(3), 0, i(3, 2) + 7, 1)
        fl.index_add(t(4, 3), 0, i(4, 5), t(4, 3))
        fl.take(t(3), i(3, 2) + 9)
        fl.bincount(i(5, 9) - 9)
        fl.masked_select(t(3, 4), f(3, 4))
    """),
]  # fmt: skip
