"""Bennett's estimate of log Z from weights that are known exactly."""

import numpy as np
from numpy.testing import assert_allclose

from fairfield.mcmc.annealed import Bridge


def weights(rng, log_z, spread, groups=64, each=200):
    """Gaussian log w: up with mean log Z - s²/2, down with mean log Z + s²/2."""
    noise = rng.standard_normal((2, groups, each))
    return log_z - spread**2 / 2 + spread * noise[0], log_z + spread**2 / 2 + spread * noise[1]


def test_log_z_is_found_within_its_error(rng):
    for log_z, spread in ((3.0, 0.5), (-200.0, 2.0)):
        bridge = Bridge(*weights(rng, log_z, spread))
        assert abs(bridge.log_z.estimate - log_z) <= 5 * bridge.log_z.stderr
        up, down = bridge.ends
        assert abs(up - log_z) < 1
        assert abs(down - log_z) < 1


def test_the_estimate_balances_the_two_ways(rng):
    up, down = weights(rng, 1.0, 1.5, groups=4, each=50)
    up = up[:, :25]
    at = Bridge(up, down).log_z.estimate + np.log(up.size / down.size)

    def expit(logs):
        return 1 / (1 + np.exp(-logs))

    assert_allclose(expit(up - at).sum(), expit(at - down).sum(), rtol=1e-10)


def test_overlap_falls_with_the_distance_of_the_two_ways(rng):
    near, far = (Bridge(*weights(rng, 0.0, spread)).overlap for spread in (0.1, 10.0))
    assert near > 0.99
    assert far < 0.01
    same = Bridge(*weights(rng, 0.0, 1.0, groups=4, each=20))
    half = same.among(slice(0, None, 2))
    assert half.down.shape == (2, 20)
    assert half.up.shape == (2, 40)
