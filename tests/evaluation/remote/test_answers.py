import sqlite3
import threading

import pytest

import fairfield as ff
from fairfield.evaluation.remote.answers import Answer, Answers, has_answers, read_answers
from fairfield.evaluation.storage.drivers import Heartbeat


@pytest.fixture
def base(tmp_path):
    connected = sqlite3.connect(tmp_path / "s.db")
    yield connected
    connected.close()


@pytest.fixture
def heart(base, tmp_path):
    heart = Heartbeat(str(tmp_path / "s.db"), base)
    yield heart
    heart.close(base)


def answer(key, value, **more):
    return Answer(key, ff.Worth(value, **more), 0.5)


def test_answers_come_back_as_they_were(base, heart):
    assert not has_answers(base)
    answers = Answers(base, heart, "s.db")
    given = answer(b"\x03\x00", 0.1, cost=0.2, tokens=7, record={"text": "yes"})
    answers.add([given, answer(b"\x00\x00", 2.0)])
    assert has_answers(base)
    assert [each for _, each in read_answers(base, "s.db")] == [given, answer(b"\x00\x00", 2.0)]


def test_only_what_others_added_is_fresh(base, heart, tmp_path):
    answers = Answers(base, heart, "s.db")
    answers.add([answer(b"a", 1.0)])
    other = sqlite3.connect(tmp_path / "s.db")
    others = Answers(other, heart, "s.db")
    assert others.fresh() == [answer(b"a", 1.0)]
    others.add([answer(b"b", 2.0), answer(b"b", 3.0)])
    answers.add([answer(b"c", 4.0)])
    assert answers.fresh() == [answer(b"b", 2.0), answer(b"b", 3.0)]
    assert answers.fresh() == []
    assert others.fresh() == [answer(b"c", 4.0)]
    other.close()


def test_a_damaged_answer_is_noticed(base, heart):
    Answers(base, heart, "s.db").add([answer(b"a", 1.0, record={"text": "yes"})])
    base.execute("""UPDATE answers SET record = '{"text": "no"}'""")
    with pytest.raises(ff.StoreError, match="checksum of answer 1"):
        list(read_answers(base, "s.db"))


def test_keys_do_not_reach_the_file(base, heart, monkeypatch):
    monkeypatch.setenv("THEIR_TOKEN", "verysecretvalue")
    Answers(base, heart, "s.db").add([answer(b"a", 1.0, record={"url": "x/verysecretvalue"})])
    assert base.execute("SELECT record FROM answers").fetchone() == ('{"url": "x/[secret]"}',)


def test_it_waits_for_a_file_that_another_process_has_locked(base, heart, tmp_path):
    answers = Answers(base, heart, "s.db")
    base.execute("PRAGMA busy_timeout = 1")
    other = sqlite3.connect(tmp_path / "s.db", check_same_thread=False)
    for act in (lambda: answers.add([answer(b"a", 1.0)]), lambda: answers.claim([b"b"])):
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(0.05, other.rollback).start()
        with pytest.warns(UserWarning, match="another process has locked the store"):
            act()
    assert answers.fresh() == []
    other.close()


def test_what_sqlite_says_names_the_file(base, heart):
    answers = Answers(base, heart, "s.db")
    base.execute("DROP TABLE answers")
    with pytest.raises(ff.StoreError, match=r"s\.db could not be used"):
        answers.fresh()
