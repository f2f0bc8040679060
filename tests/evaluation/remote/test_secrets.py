from fairfield.evaluation.remote.secrets import plain, without_secrets


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
