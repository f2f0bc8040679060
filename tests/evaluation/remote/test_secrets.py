from fairfield.evaluation.remote.secrets import plain, without_keys, without_secrets


def test_keys_are_taken_out_of_texts(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "verysecretvalue")
    assert without_secrets("url?x=verysecretvalue") == "url?x=[secret]"
    assert "abcdef123456" not in without_secrets("https://x.y/z?key=abcdef123456&q=1")
    assert "abcdef123456" not in without_secrets("Authorization: Bearer abcdef123456")
    assert without_secrets("the key is under the mat") == "the key is under the mat"


def test_records_stay_data(monkeypatch):
    monkeypatch.setenv("PIN_PASSWORD", "12345678")
    found = plain({"12345678": [12345678, 1.5, None, True], "x": "no. 12345678"})
    assert found == {"[secret]": ["[secret]", 1.5, None, True], "x": "no. [secret]"}


def test_prose_stays_as_it_is():
    for text in (
        "He was the ring bearer throughout.",
        "The key: persistence.",
        "sk-learning curves",
        "tokens: 128000, keys=12",
        "a basic understanding of 3 things",
        "KeyError: 'unknown key: feature_12'",
    ):
        assert without_secrets(text) == text


def test_keys_are_found_however_they_are_written(monkeypatch):
    monkeypatch.setenv("A_KEY", "abcdefgh")
    monkeypatch.setenv("B_KEY", "abcdefgh-TAIL99")  # which begins with the other
    monkeypatch.setenv("C_TOKEN", "ab/cd+ef=gh")
    assert without_secrets("wrong key abcdefgh-TAIL99") == "wrong key [secret]"
    assert without_secrets("GET /x?id=ab%2Fcd%2Bef%3Dgh") == "GET /x?id=[secret]"
    for text in (
        "{'api_key': 'hunter2hunter2'}",
        '{"x-goog-api-key": "hunter2hunter2"}',
        "Authorization: Basic hunter2hunter2==",
        "access_token=hunter2hunter2&x=1",
        '{\\"api_key\\": \\"hunter2hunter2\\"}',
        "key=hunter2hunter2%2B123456",
        "Authorization: Token hunter2hunter2",
        "Bearer hunterhunterhunter",
    ):
        assert "hunter2" not in without_secrets(text)


def test_keys_by_their_names_are_taken_out_of_records():
    found = plain({"x-api-key": "abc123def456", "keys": 12, "key": "feature_12"})
    assert found == {"x-api-key": "[secret]", "keys": 12, "key": "feature_12"}
    numbers = {"api_key": 123456789, "password": 4711, "max_tokens": 128000, "secret": True}
    hidden = {"api_key": "[secret]", "password": "[secret]"}
    assert plain(numbers) == numbers | hidden


def test_errors_that_cannot_be_written_out_do_no_harm():
    class MuteError(Exception):
        def __repr__(self):
            raise RuntimeError

        __str__ = __repr__

    error = MuteError()
    assert without_keys(error) == ("MuteError:", error)
