"""Threads that overlap share limits of the process."""

from threadpoolctl import threadpool_info, threadpool_limits

from fairfield.evaluation.threads import one_blas_thread


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_overlapping_limits_hold_to_the_last_and_are_put_back():
    with threadpool_limits(limits=2):
        before = blas_threads()
        one, other = one_blas_thread(), one_blas_thread()
        one.__enter__()
        other.__enter__()
        one.__exit__(None, None, None)
        assert blas_threads() == {1}
        other.__exit__(None, None, None)
        assert blas_threads() == before == {2}
