"""Restricted maximum likelihood for a linear mixed model with one grouping."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi, sqrt

import numpy as np

from analysis.stats.columns import Codes, Floats, as_floats

STEP = 1.5


@dataclass(frozen=True)
class RemlFit:
    """What was fitted, in the units of the columns given.

    Attributes
    ----------
    beta, covariance
        Fixed effects (p) and their covariance (p × p).
    relative
        Covariance of the random parts over the residual variance (q × q).
    variance
        Residual variance.
    converged
        Whether the deviance has a minimum there.
    """

    beta: Floats
    covariance: Floats
    relative: Floats
    variance: float
    converged: bool


@dataclass(frozen=True)
class _Moments:
    """Sums of products: per trajectory of the random columns Z, in all of the fixed ones X."""

    zz: Floats
    zx: Floats
    zy: Floats
    xx: Floats
    xy: Floats
    yy: float
    n: int


def fit_reml(
    y: Floats, x: Floats, z: Floats, code: Codes, *, starts: Sequence[Sequence[float]]
) -> RemlFit:
    """Fit y = Xβ + Z b_group + e.

    Parameters
    ----------
    y, x, z
        n values, n × p columns of fixed and n × q of random effects (q is 1 or 2), of size about 1.
    code
        The group of each row, from 0.
    starts
        Where to start: entries of Λ by rows (q(q + 1)/2 of them). The first from which a minimum
        is found is taken, else the lowest deviance.

    Notes
    -----
    b ~ N(0, σ²ΛΛ'), e ~ N(0, σ²I). With M_i = I + Λ'Z_i'Z_iΛ and W_i = ΛM_i⁻¹Λ', the inverse of
    V_i = I + Z_iΛΛ'Z_i' is I − Z_iW_iZ_i', and the profiled restricted deviance is Σ log|M_i| +
    log|X'V⁻¹X| + (n − p)(1 + log(2πr²/(n − p))), r² the generalised residual sum of squares. Bates,
    Mächler, Bolker & Walker 2015, J. Stat. Softw. 67:1, section 3. All of it comes from sums of
    products by group, so a step costs as much as there are groups, whatever their size. The
    deviance does not change with the sign of a column of Λ: no bounds are needed, and a variance
    of 0 is an ordinary minimum. BFGS; converged where the Newton step that is left would change
    the deviance by less than 1e-5 and the curvature is not negative.
    """
    from scipy.optimize import minimize  # slow to import, and not every page needs it

    moments = _moments(z, x, y, code)
    best: tuple[bool, float, Floats] | None = None
    for start in starts:
        found = minimize(
            _deviance, start, args=(moments,), method="BFGS", jac="3-point", options={"gtol": 1e-4}
        )
        settled = _settled(found.x, moments)
        if best is None or (settled, -found.fun) > (best[0], -best[1]):
            best = (settled, float(found.fun), found.x)
        if settled:
            break
    if best is None:
        raise ValueError("a fit needs a start")
    converged, _, theta = best
    _, beta, information, variance = _profile(theta, moments)
    root = _root(theta)
    covariance = as_floats(variance * np.linalg.inv(information))
    return RemlFit(beta, covariance, root @ root.T, variance, converged)


def profile_error(
    y: Floats, x: Floats, z: Floats, code: Codes, *, column: int, fit: RemlFit
) -> float | None:
    """Compute the standard error of one fixed effect from the likelihood's own curvature.

    Parameters
    ----------
    y, x, z, code
        As given to `fit_reml`.
    column
        The fixed effect's column in x.
    fit
        What that gave.

    Returns
    -------
    float or None
        None where the profile does not curve upwards.

    Notes
    -----
    The likelihood D(b) with the effect held at b and all else fitted anew, variances too, at three
    points around the estimate; SE = sqrt(2/D''). Where trajectories end depending on their scores
    the estimates of slope and variances hang together, which SE² from (X'V⁻¹X)⁻¹ takes for granted
    that they do not: it is then too small, and the observed information is needed (Kenward &
    Molenberghs 1998, Stat. Sci. 13:236).
    """
    from scipy.optimize import minimize  # slow to import, and not every page needs it

    rest = np.delete(x, column, axis=1)
    value = float(fit.beta[column])
    step = STEP * sqrt(float(fit.covariance[column, column]))
    # A touch above singular, so that there is a root to start from.
    root = np.linalg.cholesky(fit.relative + 1e-8 * np.eye(z.shape[1]))
    theta = root[np.tril_indices(z.shape[1])]
    deviances = []
    for by in (-step, 0.0, step):
        moments = _moments(z, rest, y - (value + by) * x[:, column], code)
        # The gradient's square over the curvature is what it costs the deviance: nothing here.
        found = minimize(
            _deviance, theta, args=(moments, False), method="BFGS", options={"gtol": 1e-2}
        )
        deviances.append(float(found.fun))
        theta = found.x
    curvature = (deviances[0] - 2 * deviances[1] + deviances[2]) / step**2
    if not np.isfinite(curvature) or curvature <= 0:
        return None
    return sqrt(2 / curvature)


def _moments(z: Floats, x: Floats, y: Floats, code: Codes) -> _Moments:
    groups = int(code.max()) + 1

    def sums(left: Floats, right: Floats) -> Floats:
        found = np.empty((groups, left.shape[1], right.shape[1]))
        for i in range(left.shape[1]):
            for j in range(right.shape[1]):
                found[:, i, j] = np.bincount(
                    code, weights=left[:, i] * right[:, j], minlength=groups
                )
        return found

    column = y[:, None]
    return _Moments(
        sums(z, z), sums(z, x), sums(z, column)[:, :, 0], x.T @ x, x.T @ y, float(y @ y), y.size
    )


def _root(theta: Floats) -> Floats:
    """Λ: lower triangular."""
    if theta.size == 1:
        return np.array([[theta[0]]])
    return np.array([[theta[0], 0.0], [theta[1], theta[2]]])


def _profile(
    theta: Floats, moments: _Moments, *, restricted: bool = True
) -> tuple[float, Floats, Floats, float]:
    """Give the deviance at Λ, and β, X'V⁻¹X and the residual variance there."""
    root = _root(theta)
    inner = np.eye(root.shape[0]) + root.T @ moments.zz @ root
    weight = root @ np.linalg.inv(inner) @ root.T
    across = np.swapaxes(moments.zx, 1, 2) @ weight
    information = moments.xx - (across @ moments.zx).sum(axis=0)
    product = moments.xy - np.einsum("gpq,gq->p", across, moments.zy)
    beta = np.linalg.solve(information, product)
    total = moments.yy - float(np.einsum("gq,gqr,gr->", moments.zy, weight, moments.zy))
    left = max(total - float(product @ beta), 1e-300)
    free = moments.n - (moments.xx.shape[0] if restricted else 0)
    deviance = float(np.linalg.slogdet(inner)[1].sum()) + free * (1 + log(2 * pi * left / free))
    if restricted:
        deviance += float(np.linalg.slogdet(information)[1])
    return deviance, beta, information, left / free


def _deviance(theta: Floats, moments: _Moments, restricted: bool = True) -> float:
    return _profile(theta, moments, restricted=restricted)[0]


def _settled(theta: Floats, moments: _Moments) -> bool:
    """Whether the deviance has a minimum here, by central differences."""
    size, step = theta.size, 1e-3 * np.maximum(1, np.abs(theta))
    here = _deviance(theta, moments)
    # By coordinates that are measured in steps, so that large ones do not need small steps.
    unit = np.diag(step)
    gradient, curvature = np.empty(size), np.empty((size, size))
    for i in range(size):
        up, down = (_deviance(theta + sign * unit[i], moments) for sign in (1, -1))
        gradient[i] = (up - down) / 2
        curvature[i, i] = up - 2 * here + down
        for j in range(i):
            corners = [
                a * b * _deviance(theta + a * unit[i] + b * unit[j], moments)
                for a in (1, -1)
                for b in (1, -1)
            ]
            curvature[i, j] = curvature[j, i] = sum(corners) / 4
    values, vectors = np.linalg.eigh(curvature)
    largest = max(float(values.max()), 1e-18)
    if values.min() < -1e-3 * largest:
        return False
    along = vectors.T @ gradient
    # Flat directions (a variance of 0 makes its correlation one) have no Newton step.
    curved = values > 1e-6 * largest
    left = float((along[curved] ** 2 / values[curved]).sum()) / 2
    return left < 1e-5 and bool((np.abs(along[~curved]) < 1e-5).all())
