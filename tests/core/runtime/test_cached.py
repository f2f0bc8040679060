import threading

from fairfield.core.runtime.cached import cached


class Room:
    def __init__(self, inner=None):
        self.inner, self.count = inner, 0

    @cached
    def value(self):
        """What is worked out."""
        self.count += 1
        return 1 if self.inner is None else 1 + self.inner()


def test_it_is_worked_out_once():
    room = Room()
    assert (room.value, room.value, room.count) == (1, 1, 1)


def test_another_thread_need_not_wait():
    found = []

    def in_a_thread():
        thread = threading.Thread(target=lambda: found.append(Room().value), daemon=True)
        thread.start()
        thread.join(5)
        return found[0]

    assert Room(in_a_thread).value == 2
