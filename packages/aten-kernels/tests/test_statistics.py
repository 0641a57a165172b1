"""Differences, covariances, histograms and membership against NumPy."""

import flambeau as fl
import numpy as np
import pytest

A = np.random.default_rng(5).random((4, 6))


def near(got, want):
    np.testing.assert_allclose(got.numpy(), want, atol=1e-12)


def test_differences():
    x = fl.from_numpy(A)
    near(fl.diff(x), np.diff(A))
    near(x.diff(2, 0), np.diff(A, 2, 0))
    near(fl.diff(x, prepend=x[:, :1]), np.diff(A, prepend=A[:, :1]))
    for order in (1, 2):
        for got, want in zip(fl.gradient(x, edge_order=order), np.gradient(A, edge_order=order)):
            near(got, want)
    places = np.array([0.0, 1, 3, 4])
    near(fl.gradient(x, spacing=(fl.from_numpy(places),), dim=0)[0], np.gradient(A, places, axis=0))


def test_covariances():
    x = fl.from_numpy(A)
    near(fl.cov(x), np.cov(A))
    near(
        fl.cov(x, correction=0, fweights=fl.tensor([1, 2, 1, 0, 3, 1])), np.cov(A, ddof=0, fweights=[1, 2, 1, 0, 3, 1])
    )
    near(fl.corrcoef(x), np.corrcoef(A))


def test_histograms_and_membership():
    x = fl.from_numpy(A)
    hist, edges = fl.histogram(x, 5)
    want, want_edges = np.histogram(A, 5)
    near(hist, want)
    near(edges, want_edges)
    near(fl.histogramdd(x[:, :2], [2, 3])[0], np.histogramdd(A[:, :2], [2, 3])[0])
    integers = fl.arange(40)
    for tests in (fl.tensor([3, 7, 50]), fl.arange(0, 80, 2)):
        np.testing.assert_array_equal(fl.isin(integers, tests).numpy(), np.isin(np.arange(40), tests.numpy()))
    near(fl.vander(fl.tensor([1.0, 2, 3], dtype=fl.float64)), np.vander([1.0, 2, 3]))


@pytest.mark.parametrize(
    "call",
    [
        lambda: fl.diff(fl.ones(3), -1),
        lambda: fl.cov(fl.ones(2, 2, 2)),
        lambda: fl.gradient(fl.ones(1)),
        lambda: fl.histogram(fl.ones(3), 0),
    ],
)
def test_refusals(call):
    with pytest.raises(RuntimeError):
        call()
