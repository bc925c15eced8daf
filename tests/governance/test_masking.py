"""Personal data and credentials never pass the masker; what is neither passes as it was."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.masking import KINDS, Masked, Masker, SubjectTag, detection, names

KEY = b"a key of thirty-two bytes, or so"
MASKER = Masker(KEY, "k1")
HASH = re.compile(r"·[0-9a-f]{4}\]")


def mask(text: str) -> str:
    """The text masked, its masks without their hashes: `[EMAIL]`."""
    return HASH.sub("]", MASKER.mask_text(text).value)


def secret(*parts: str) -> str:
    """A made-up credential, in parts so that no scanner of this file takes it for one."""
    return "".join(parts)


PEM = secret(
    "-----BEGIN RSA PRIV", "ATE KEY-----\nMIIEowIBAAKCAQEA\nabc+/=\n-----END RSA PRIV", "ATE KEY-----"
)
JWT = secret("eyJ", "hbGciOiJIUzI1NiJ9.eyJ", "zdWIiOiI0MiJ9.c2lnbmF0dXJl-_x")
KEYS = [
    secret("AK", "IA", "IOSFODNN7EXAMPLE"),
    secret("AS", "IA", "IOSFODNN7EXAMPLE"),
    secret("gh", "p_", "a1B2" * 9),
    secret("gh", "s_", "a1B2" * 9),
    secret("github", "_pat_", "11AAAAAAA0" * 2 + "aa_" + "b2" * 29 + "c"),
    secret("sk", "-", "a" * 48),
    secret("sk", "-proj-", "ab-c_D12" * 8),
    secret("sk", "-ant-api03-", "Ab1_-" * 18 + "AA"),
    secret("sk", "_live_", "4eC39HqLyjWDarjtT1zdp7dc"),
    secret("xo", "xb-", "123456789012-1234567890123-abcdefABCDEF"),
    secret("gl", "pat-", "abcdef-12345_ABCDEFG"),
    secret("AI", "zaSy", "Ab1-_" * 6 + "xyz"),
    secret("ya", "29.", "a0AfH6SMBx-_" * 4),
    secret("hf", "_", "aB" * 17),
    secret("np", "m_", "a1" * 18),
    secret("SG", ".", "a" * 22 + "." + "b" * 43),
    secret("hv", "s.", "CAESIJ" * 6),
    secret("LT", "AI5t", "a1B2c3D4e5F6g7H8i9J0"),
    secret("123456789", ":AA", "F" * 33),
    secret("qm", "_", "Ab-c_1x" * 6 + "z"),
]

MASKED = [
    # E-mail addresses
    ("mail jane.doe@example.com now", "mail [EMAIL] now"),
    ("<mailto:o'neil+tag@sub.example.co.uk>.", "<mailto:[EMAIL]>."),
    ("邮箱zhang.wei@example.cn。请回复", "邮箱[EMAIL]。请回复"),
    ("почта ivan@example.ru, спасибо", "почта [EMAIL], спасибо"),
    ("пишите иван@пример.рф", "пишите [EMAIL]"),
    ("a@b.co,b@c.de;c@d.ru", "[EMAIL],[EMAIL];[EMAIL]"),
    ("邮箱:zhang@example.com", "邮箱:[EMAIL]"),
    ("email=jane%40example.com&page=2", "email=[EMAIL]&page=2"),
    ("user%3Djane%2540example.com", "user%3D[EMAIL]"),
    (r"jane\u0040example.com", "[EMAIL]"),
    ("jane&#64;example.com", "[EMAIL]"),
    ('"john doe"@example.com', "[EMAIL]"),
    # With characters that nobody sees, as they come with what was copied
    ("mail jane.doe@exam\u200bple.com now", "mail [EMAIL] now"),
    ("jane\u00ad.doe@example.com", "[EMAIL]"),
    ("tel \u202a+49 170 1234567\u202c", "tel \u202a[PHONE]"),
    ("\u200e+49\u200e1701234567", "\u200e[PHONE]"),
    ("138\u200b1234\u200b5678, 4111\u20601111\u20601111\u20601111", "[PHONE], [CARD]"),
    (
        "Семья \U0001f468\u200d\U0001f469\u200d\U0001f467 пишет",
        "Семья \U0001f468\u200d\U0001f469\u200d\U0001f467 пишет",
    ),
    # Telephone numbers
    ("电话13812345678,谢谢", "电话[PHONE],谢谢"),
    ("手机:138 1234 5678。", "手机:[PHONE]。"),
    ("手机13812345678微信同号", "手机[PHONE]微信同号"),
    ("+86-138-1234-5678", "[PHONE]"),
    ("0086-13812345678 / 0086 138 1234 5678", "[PHONE] / [PHONE]"),
    ("(+86)138-1234-5678", "[PHONE]"),
    ("8613812345678", "[PHONE]"),
    ("138 1234 5678", "[PHONE]"),
    ("13812345678,13912345678/13712345678-13612345678", "[PHONE],[PHONE]/[PHONE]-[PHONE]"),
    ("010-62511234, (010) 6251 1234, 0755-82345678-801", "[PHONE], [PHONE], [PHONE]"),
    ("8 (916) 123-45-67 и +7 916 123 45 67", "[PHONE] и [PHONE]"),
    ("тел.89161234567, 8-916-123-45-67", "тел.[PHONE], [PHONE]"),
    ("(495) 123-45-67", "[PHONE]"),
    ("(415) 555-2671 or 415.555.2671 or 1-415-555-2671", "[PHONE] or [PHONE] or [PHONE]"),
    ("phone no. 4155552671", "phone no. [PHONE]"),
    ("call me at 415 555 2671", "call me at [PHONE]"),
    ("+49 (0)30 901820 und 030/901820", "[PHONE] und [PHONE]"),
    ("+49.30.901820, 030.901820", "[PHONE], [PHONE]"),
    ("Tel.: 089 / 12 34 56-78", "Tel.: [PHONE]"),
    ("0171 1234567 oder 01711234567", "[PHONE] oder [PHONE]"),
    ("+44 20 7946 0958; +33 1 23 45 67 89; 01.23.45.67.89", "[PHONE]; [PHONE]; [PHONE]"),
    (r"first\n13812345678\nlast", r"first\n[PHONE]\nlast"),
    ("tel=%2B49+30+901820", "tel=[PHONE]"),
    ("user_13812345678, tel-13812345678", "user_[PHONE], tel-[PHONE]"),
    # Identity numbers, cards, accounts
    ("身份证11010519491231002X,", "身份证[ID_CN],"),
    ("110105 19491231 002x", "[ID_CN]"),
    ("4111 1111 1111 1111 exp 12/26", "[CARD] exp 12/26"),
    ("5105-1051-0510-5100 and 3782 822463 10005", "[CARD] and [CARD]"),
    ("卡号6222021234567890128。", "卡号[CARD]。"),
    ("карта 2200 0000 0000 0004", "карта [CARD]"),
    ("4111111111111112 4111111111111111", "4111111111111112 [CARD]"),
    ("IBAN DE89 3704 0044 0532 0130 00 bitte", "IBAN [IBAN] bitte"),
    ("GB82WEST12345698765432,", "[IBAN],"),
    ("FR14 2004 1010 0505 0001 3M02 606", "[IBAN]"),
    # Addresses of the net
    ("http://192.168.1.10:8080/x", "http://[IP]:8080/x"),
    ("地址10.0.0.1端口, 10.0.0.2.", "地址[IP]端口, [IP]."),
    ("[2001:db8::1]:443 ip:2001:db8::2, ::ffff:10.0.0.1", "[[IP]]:443 ip:[IP], [IP]"),
    ("2001:0db8:0000:0000:0000:0000:0000:0001", "[IP]"),
    ("X-Forwarded-For: 203.0.113.7, 70.41.3.18", "X-Forwarded-For: [IP], [IP]"),
    # Credentials with a form of their own
    *((f"use {key}, please", "use [KEY], please") for key in KEYS),
    *((f"密钥泄露{key}请", "密钥泄露[KEY]请") for key in KEYS[:6]),
    (f"before {PEM} after", "before [KEY] after"),
    (PEM.replace("\n", r"\n")[:60], "[KEY]"),
    (f"jwt {JWT}.", "jwt [JWT]."),
    (f"Authorization: Bearer {JWT}", "Authorization: Bearer [JWT]"),
    ("Authorization: Bearer abc", "Authorization: Bearer [TOKEN]"),
    ("curl -H 'Authorization: Basic dXNlcjpwYXNz' x", "curl -H 'Authorization: Basic [TOKEN]' x"),
    ("sent Bearer abcdef.123456-x to it", "sent Bearer [TOKEN] to it"),
    # Values under tell-tale names
    ("password: hunter2", "password: [SECRET]"),
    ("password=hunter2&user=bob", "password=[SECRET]&user=bob"),
    ("{'password': 'hunter 2', 'n': 1}", "{'password': '[SECRET]', 'n': 1}"),
    (r"{\"password\": \"hunter2\"}", r"{\"password\": \"[SECRET]\"}"),
    ("export DB_PASSWORD=hunter2", "export DB_PASSWORD=[SECRET]"),
    ("client_secret = 'abc'", "client_secret = '[SECRET]'"),
    ("X-Api-Key: abcdef", "X-Api-Key: [SECRET]"),
    ("API key: abc123def", "API key: [SECRET]"),
    ("Cookie: sid=abc; theme=dark", "Cookie: sid=[SECRET]; theme=[SECRET]"),
    ("Set-Cookie: sid=abc; Path=/; HttpOnly", "Set-Cookie: sid=[SECRET]; Path=/; HttpOnly"),
    ("--password hunter2 --user x", "--password [SECRET] --user x"),
    ("curl -u admin:hunter2 https://x", "curl -u admin:[SECRET] https://x"),
    ("postgres://app:hunter2@db.internal:5432/x", "postgres://app:[SECRET]@db.internal:5432/x"),
    ("https://u:p@ss@host.example.com/", "https://u:[SECRET]@host.example.com/"),
    ("<password>hunter2</password>", "<password>[SECRET]</password>"),
    ('name="password"\r\n\r\nhunter2\r\n--b', 'name="password"\r\n\r\n[SECRET]\r\n--b'),
    ("my password is hunter2.", "my password is [SECRET]."),
    ("your verification code is 123456", "your verification code is [SECRET]"),
    ("passphrase: correct horse battery staple", "passphrase: [SECRET]"),
    ("密码:hunter2,请", "密码:[SECRET],请"),
    ("请输入密码hunter2登录", "请输入密码[SECRET]登录"),
    ("密码是hunter2", "密码是[SECRET]"),
    ("验证码:123456", "验证码:[SECRET]"),
    ("пароль: секрет123", "пароль: [SECRET]"),
    ("мой пароль — qwerty1", "мой пароль — [SECRET]"),
    ("код подтверждения: 1234", "код подтверждения: [SECRET]"),
    ("%E5%AF%86%E7%A0%81=hunter2", "%E5%AF%86%E7%A0%81=[SECRET]"),
    # Full width, as Chinese keyboards write
    ("密码\uff1ahunter2\uff0c请\u3002", "密码\uff1a[SECRET]\uff0c请\u3002"),
    (
        "电话\uff1a\uff11\uff13\uff18\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff1b",
        "电话\uff1a[PHONE]\uff1b",
    ),
    ("邮箱\uff1azhang\uff20example.com\u3002", "邮箱\uff1a[EMAIL]\u3002"),
    ("卡号\uff1a6222021234567890128\uff08张三\uff09", "卡号\uff1a[CARD]\uff08张三\uff09"),
    ("地址\uff0810.0.0.1\uff09", "地址\uff08[IP]\uff09"),
    ("令牌\u201cabc123def\u201d", "令牌\u201c[SECRET]\u201d"),
    # Several neighbours
    ("zhang@example.com13812345678", "[EMAIL][PHONE]"),
    ("张三,13812345678,11010519491231002X,zhang@example.com", "张三,[PHONE],[ID_CN],[EMAIL]"),
    ("12345678901 13812345678 10.0.0.300 10.0.0.3", "12345678901 [PHONE] 10.0.0.300 [IP]"),
]

INTACT = [
    "550e8400-e29b-41d4-a716-446655440000",
    "12345678-1234-1234-1234-123456789012",
    "13812345-6789-4abc-8def-0123456789ab",
    "trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "call_abc123def456ghi789jkl and toolu_01A09q90qw90lq917835lq9",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "1.2.3 and 1.10 and 10.4.1-rc.2 and v2.0.0+build.20241130",
    "version 1.2.3.4, Chrome/120.0.0.0 Safari/537.36, pkg==1.2.3.4",
    "1.2.3.4.5 and 10.0.0.256",
    "2024-11-30T10:00:00.123456+08:00",
    "2024-11-30 10:00:00,123 INFO",
    "30.11.2024 10:30:15 and 01/02/2024 and 2024/11/30",
    "2024-01-01 2024-01-02 2024-01-03",
    "1732950000 1732950000000 1732950000000000 1732950000123456789",
    "ORD-2024-00017 ORD-20241130-0001234567 ORD-20241130-13812345678",
    "order 2024113012345678",
    "订单号 202411301234567890",
    "заказ № 12345678901 от 30.11.2024",
    "input_tokens: 120, output_tokens=48, max_tokens=4096, token_type=bearer",
    "the token count is 120; tokens: 1500",
    "size 13812345678 bytes, duration_ns=13812345678, ¥13812345678",
    "price $1,299.00 or €12.50 or 1 299,00 руб",
    "共 12345678 条记录,耗时 1234 毫秒",
    "0.13812345678 3.14159265358979 1e10",
    "templates/password_reset.html:10 auth/token.py:122",
    "std::vector<int> a::b Foo::Bar 12:34:56 00:1A:2B:3C:4D:5E",
    "ISBN 978-3-16-148410-0",
    "Unexpected token: identifier; password is required; secret: null",
    "Basic authentication is needed; bearer of bad news",
    "sk-learn-compatible-estimators-v2 and qm_masking_key_rotation",
    "pkg@1.2.3, icon@2x.png, @decorator, user@localhost",
    "cache_key=user:42 idempotency_key: 1 primary key: id",
    "password=${DB_PASSWORD} token = get_token(user) secret={{ secret }} key: value",
    "https://example.com:8080/a?b=c&page=12#top",
    "s3://bucket/2024/11/30/part-00017.parquet",
    "密码长度:8,令牌数:120",
    "пароль обязателен, количество токенов: 120",
    "0000012345 00123456 0012345678 12345678901",
    "for key in path[-2::-1]: x[1::2] 0x0040 -- 0100 0000",
    "login(password=password, token=frozen.token, secret=creds['SecretKey'])",
    "matrix 256 512 1024 2048 and 1-2-3-4-5-6-7-8-9-10",
    "GB29NWBK60161331926818 11010519491231002Y",
    "[1, 2, 3] {not json} [INFO] {{template}}",
]


@pytest.mark.parametrize(("text", "masked"), MASKED)
def test_what_is_personal_or_secret_is_masked(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize("text", INTACT)
def test_what_is_neither_stays(text: str) -> None:
    result = MASKER.mask_text(text)
    assert result.value == text
    assert not result.tags


@pytest.mark.parametrize("text", [text for text, _ in MASKED])
def test_masked_text_is_not_masked_again(text: str) -> None:
    once = MASKER.mask_text(text).value
    assert MASKER.mask_text(once) == Masked(once, frozenset())


@pytest.mark.parametrize("text", [text for text, _ in MASKED] + INTACT)
def test_a_text_is_masked_alike_wherever_it_stands(text: str) -> None:
    alone = MASKER.mask_text(text).value
    among = {
        "first": "call jane@example.com",
        "here": text,
        "list": [text, "a", {"deep": text}],
        "last": "10.0.0.1",
    }
    masked = MASKER.mask(among).value
    assert [masked["here"], *masked["list"][:1], masked["list"][2]["deep"]] == [alone] * 3


@pytest.mark.parametrize(
    ("kind", "spellings"),
    [
        ("EMAIL", ["Jane@Example.COM", "jane@example.com", "jane%40example.com", r"jane\u0040example.com"]),
        (
            "PHONE",
            ["13812345678", "+86 138 1234 5678", "0086-138-1234-5678", "+86-13812345678", "86 138 1234 5678"],
        ),
        ("PHONE", ["+7 916 123-45-67", "8 (916) 123-45-67", "89161234567", "+79161234567"]),
        ("PHONE", ["+49 30 901820", "+49 (0)30 901820", "030/901820", "0049 30 901820", "030.901820"]),
        ("PHONE", ["+1 415 555 2671", "(415) 555-2671", "415.555.2671", "1-415-555-2671"]),
        ("ID_CN", ["11010519491231002X", "11010519491231002x", "110105-19491231-002X"]),
        ("CARD", ["4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111"]),
        ("IBAN", ["DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "de89370400440532013000"]),
        ("IP", ["10.0.0.1", "010.000.000.001", "::ffff:10.0.0.1"]),
        ("IP", ["2001:db8::1", "2001:0DB8:0:0:0:0:0:1"]),
        (
            "SECRET",
            ["password: hunter2", '{"password": "hunter2"}', "密码:hunter2", "https://u:hunter2@x.example/"],
        ),
        ("TOKEN", ["Authorization: Bearer abc.123", '{"authorization": "Bearer abc.123"}']),
    ],
)
def test_spellings_of_one_value_have_one_mask(kind: str, spellings: list[str]) -> None:
    results = [
        MASKER.mask_text(f"x {spelling} y" if kind != "SECRET" else spelling) for spelling in spellings
    ]
    masks = {re.search(rf"\[{kind}·[0-9a-f]{{4}}\]", result.value).group() for result in results}  # type: ignore[union-attr]
    assert len(masks) == 1
    assert frozenset.intersection(*(result.tags for result in results))


@pytest.mark.parametrize(
    "raw",
    [
        "030 901820",
        "+49 30 901820",
        "Jane@Example.com",
        "hunter2",
        "4111.1111.1111.1111",
        JWT,
        "::ffff:10.0.0.1",
    ],
)
def test_an_erasure_request_finds_what_was_masked(raw: str) -> None:
    seen = [
        "tel. 030/901820",
        "jane@example.com",
        "password=hunter2",
        "card 4111 1111 1111 1111",
        f"Bearer {JWT}",
        "ip 10.0.0.1",
    ]
    wanted = set(MASKER.tag(f" {raw}\n"))
    assert sum(bool(wanted & MASKER.mask_text(text).tags) for text in seen) == 1


def test_a_mask_is_the_kind_and_the_start_of_the_keyed_hash() -> None:
    digest = hmac.new(KEY, b"EMAIL\0jane@example.com", hashlib.sha256).hexdigest()
    result = MASKER.mask_text("Jane@example.com")
    assert result == Masked(f"[EMAIL·{digest[:4]}]", frozenset({SubjectTag("EMAIL", digest)}))
    assert (
        MASKER.mask_text("jane@example.com").value
        != Masker(b"other", "k2").mask_text("jane@example.com").value
    )
    assert SubjectTag("EMAIL", digest) in MASKER.tag("jane@example.com")


def test_a_masker_is_a_frozen_value() -> None:
    assert Masker(KEY, "k1") == MASKER
    assert repr(MASKER) == "Masker(key_id='k1')"
    with pytest.raises(AttributeError):
        MASKER.key = b""  # type: ignore[misc]


def plain(value: Any) -> Any:
    """A masked value, its masks without their hashes."""
    return json.loads(HASH.sub("]", json.dumps(MASKER.mask(value).value, ensure_ascii=False)))


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        (
            {"id_token": "x.y", "reset_token": "x", "password2": "$ecret"},
            dict.fromkeys(("id_token", "reset_token", "password2"), "[SECRET]"),
        ),
        ({"password": "correct horse", "user": "bob"}, {"password": "[SECRET]", "user": "bob"}),
        (
            {"password": 12345678, "pin": 1234, "cvc": 321},
            {"password": "[SECRET]", "pin": "[SECRET]", "cvc": "[SECRET]"},
        ),
        ({"Authorization": ["Bearer abc"]}, {"Authorization": ["Bearer [TOKEN]"]}),
        ({"authorization": f"Bearer {JWT}"}, {"authorization": "Bearer [JWT]"}),
        ({"apiKey": KEYS[0], "clientSecret": "x"}, {"apiKey": "[KEY]", "clientSecret": "[SECRET]"}),
        ({"Cookie": "a=b; c=d"}, {"Cookie": "a=[SECRET]; c=[SECRET]"}),
        ({"credentials": {"values": ["x", "y"]}}, {"credentials": {"values": ["[SECRET]", "[SECRET]"]}}),
        (
            {"密码": "hunter2", "пароль": "x", "手机号": "6251 1234"},
            {"密码": "[SECRET]", "пароль": "[SECRET]", "手机号": "[PHONE]"},
        ),
        ({"phone": 4155552671, "mobile": "4155552671"}, {"phone": "[PHONE]", "mobile": "[PHONE]"}),
        ({"customer": 13812345678, "card": 4111111111111111.0}, {"customer": "[PHONE]", "card": "[CARD]"}),
        ([{"key": "password", "value": "x"}], [{"key": "password", "value": "[SECRET]"}]),
        (
            [{"value": "Bearer abc", "name": "Authorization"}],
            [{"value": "Bearer [TOKEN]", "name": "Authorization"}],
        ),
        (
            [{"key": "http.request.header.authorization", "value": {"stringValue": "Basic YTpi"}}],
            [{"key": "http.request.header.authorization", "value": {"stringValue": "Basic [TOKEN]"}}],
        ),
        (["--password", "hunter2", "-v"], ["--password", "[SECRET]", "-v"]),
        (
            {"headers": [["x-api-key", "abc123"], ["cookie", "sid=a1"], ["accept", "*/*"]]},
            {"headers": [["x-api-key", "[SECRET]"], ["cookie", "sid=[SECRET]"], ["accept", "*/*"]]},
        ),
        ('[["x-api-key", "abc123"], ["a", "b1"]]', '[["x-api-key", "[SECRET]"], ["a", "b1"]]'),
        ("<password><![CDATA[hunter2]]></password>", "<password><![CDATA[[SECRET]]]></password>"),
        ({"jane@example.com": 1, "13812345678": [2]}, {"[EMAIL]": 1, "[PHONE]": [2]}),
        ({"a@b.co": 1, "A@b.co": 2}, {"[EMAIL]": 1, "[EMAIL] (2)": 2}),
        (("10.0.0.1",), ["[IP]"]),
    ],
)
def test_leaves_and_keys_of_a_payload_are_masked(value: Any, masked: Any) -> None:
    assert plain(value) == masked


@pytest.mark.parametrize(
    "value",
    [
        {
            "usage": {"input_tokens": 120, "output_tokens": 48},
            "max_tokens": 4096,
            "tokens": 123456,
            "token": 120,
        },
        {"secret": None, "password": "", "api_key": True, "token_type": "bearer", "password_length": 12},
        {"required": ["password", "email2"], "rows": [["password", "email"], ["name", "password", "x9"]]},
        '[["password", "email"], ["name", "password", "x9"]]',
        {"password": {"type": "string", "description": "The password of the user", "minLength": 8}},
        {
            "publicKey": "abc",
            "primary_key": "id",
            "key": "value",
            "cache_key": "user:42",
            "keyboard": "x",
            "bypass": "x",
        },
        {
            "session_id": "abc",
            "trace_id": "4111111111111111",
            "call_id": "call_1",
            "signature": "def f(x)",
            "code": "404",
        },
        {"duration_ns": 13812345678, "bytes": "13812345678", "version": "1.2.3.4", "pass": 12, "fail": 3},
        {
            "n": [0, -1, 1.5, 10**30, 12345678901, 1732950000000],
            "t": True,
            "none": None,
            "s": "",
            "o": {},
            "l": [],
        },
    ],
)
def test_payloads_without_personal_data_stay(value: Any) -> None:
    result = MASKER.mask(value)
    assert result.value == value
    assert not result.tags


def test_json_in_a_text_is_masked_where_it_stands() -> None:
    text = (
        '{ "v": 1.10,\n "mail": "jane@example.com", "n": [13812345678, 1E5], "password": "a \\" b", "v": 2 }'
    )
    assert (
        mask(text)
        == '{ "v": 1.10,\n "mail": "[EMAIL]", "n": ["[PHONE]", 1E5], "password": "[SECRET]", "v": 2 }'
    )


def test_json_in_json_in_json_is_masked() -> None:
    inner = json.dumps({"password": "a b c", "note": "line\n13812345678"})
    for _ in range(6):
        inner = json.dumps({"body": inner, "n": 1.5})
    value = json.loads(MASKER.mask_text(inner).value)
    for _ in range(5):
        value = json.loads(value["body"])
    assert plain(json.loads(value["body"])) == {"password": "[SECRET]", "note": "line\n[PHONE]"}
    masked = json.loads(MASKER.mask({"output": inner}).value["output"])
    assert masked == json.loads(MASKER.mask_text(inner).value)


def test_json_deeper_than_it_is_read_is_masked_as_text() -> None:
    inner = json.dumps({"mail": "jane@example.com", "note": "x\n13812345678"})
    for _ in range(12):
        inner = json.dumps([inner])
    masked = MASKER.mask_text(inner).value
    assert "jane" not in masked
    assert "13812345678" not in masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('{"password": "hunter2 and so', '{"password": "[SECRET]'),
        ('{"a": {"b": [1, "jane@example.com", "bo', '{"a": {"b": [1, "[EMAIL]", "bo'),
        ('{"a": 1} then bob@example.com', '{"a": 1} then [EMAIL]'),
        ('{"a": "x@y.de"}\n{"a": "x@z.de"}\n', '{"a": "[EMAIL]"}\n{"a": "[EMAIL]"}\n'),
        ('got {"password": "a b"} back', 'got {"password": "[SECRET]"} back'),
        ("[2001:db8::1] said 10.0.0.1", "[[IP]] said [IP]"),
        ('"jane@example.com"', '"[EMAIL]"'),
        ('["login", "--password", "hunter 2", "-v"]', '["login", "--password", "[SECRET]", "-v"]'),
        (r'{"a": "\ud800 jane@example.com \u4f60"}', '{"a": "\\ud800 [EMAIL] 你"}'),
        (
            '{"name": "Authorization", "value": "Bearer abc"}',
            '{"name": "Authorization", "value": "Bearer [TOKEN]"}',
        ),
    ],
)
def test_json_that_was_cut_off_or_stands_in_a_text_is_masked(text: str, masked: str) -> None:
    assert mask(text) == masked


def test_every_name_of_a_secret_has_a_stem_that_is_looked_for() -> None:
    foreign = {"密码", "口令"}
    secrets = names._SECRETS | names._WEAK | names._PINS | names._KEYS | names._CODES | foreign
    assert {name for name in secrets if not any(stem in name for stem in names.STEMS)} == foreign


def test_what_a_secret_holds_is_tagged_too() -> None:
    tags = MASKER.mask({"secret": "jane@example.com"}).tags
    assert {tag.kind for tag in tags} == {"SECRET", "EMAIL"}
    assert tags & set(MASKER.tag("jane@example.com"))


def test_depth_and_length_are_bounded() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert "[TOO DEEP]" in json.dumps(MASKER.mask(deep).value)
    long = MASKER.mask_text("word " * 1_100_000).value
    assert len(long) < 5_000_020
    assert long.endswith("[TOO LONG]")


HOSTILE = [
    "@", "a@", "a@a.", "1", "1 ", "1-", "+1", "00", "(", ".1", "1.1.1.", ":", "::", "a:", "1:2:", "eyJ", "eyJaaaaaaaa.", "sk-", "gh", "\\", "\\\\n",
    "\\u0031", "%", "%25", "%31", "&#49;", '"', '\\"', "{", "[", '{"a":', '["', "'", "password", "password:", "password=", "password is ", "key ",
    "Bearer ", "Bearer a", "-----BEGIN PRIVATE KEY-----", "密码", "密码是", "пароль ", "<a>", "name=\"a\"", "://a:", "://a:a@", "-", "--a ", "=", "GB82",
    "DE89 3704 ", "a.", "_", "-a", "4111 ", "\x1e", "\n", "\ud800", "1", "ÿ@",
    "mysql -a ", "token is ", "482913 is your ", "password,b\n", "a,password", ".aaaaaaaaaaaaaaaa", "redis-cli a ", '"-a",', "cio", "+ASt", "-us",
    "version ", "1.2.3.4 ", "+86.92527 ", "user_", "user_138", "011 44 ", "your code ", "密码设置", "a" * 32 + ".", "1" * 40 + ".", "APIM=",
]  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE)
def test_time_grows_with_length_alone(part: str) -> None:
    def seconds(length: int) -> float:
        text = (part * (length // len(part) + 1))[:length]
        start = time.process_time()
        MASKER.mask_text(text)
        MASKER.mask({part: text[: length // 2], "password": text[: length // 2]})
        return time.process_time() - start

    seconds(1000)
    short, long = min(seconds(2_000), seconds(2_000)), min(seconds(16_000), seconds(16_000))
    # Eightfold length is eightfold time, with room for noise; quadratic would be sixty-fourfold.
    assert long < max(short * 24, 0.2)


FRAGMENTS = [text for text, _ in MASKED] + HOSTILE + INTACT
TEXT = st.lists(
    st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=6), st.sampled_from(list(" .:=@-_\"'\\{}[],%&\n0123456789abcXé密п"))),
    max_size=8,
).map("".join)  # fmt: skip
LEAF = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), TEXT, st.text(st.characters(), max_size=20)
)
NAME = st.one_of(
    TEXT,
    st.sampled_from(["password", "phone", "token", "version", "name", "type", "value", "cookie", "n_bytes"]),
)
VALUE = st.recursive(
    LEAF,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAME, inner, max_size=4)),
    max_leaves=12,
)


def shape(value: Any) -> Any:
    """What masking must not change: nesting, lengths, what is neither text nor number."""
    if isinstance(value, dict):
        return [shape(one) for one in value.values()]
    if isinstance(value, list):
        return tuple(shape(one) for one in value)
    if value is None or isinstance(value, bool):
        return value
    return "leaf"


@given(VALUE)
def test_any_payload_keeps_its_shape(value: Any) -> None:
    result = MASKER.mask(value)
    assert shape(result.value) == shape(value)
    assert all(tag.kind in KINDS and len(tag.hash) == 64 for tag in result.tags)
    if not result.tags:
        assert json.dumps(result.value) == json.dumps(value)


@pytest.mark.parametrize("number", ["+491701234567", "\u200e+49\u200e1701234567"])
def test_numbers_that_follow_each_other_at_once_are_masked_each(number: str) -> None:
    result = MASKER.mask(f"a@b.co,b@c.de;c@d.ru{number * 6}").value
    assert result.count("[PHONE·") == 6
    assert "1701234567" not in result


@given(VALUE)
def test_any_payload_is_masked_once(value: Any) -> None:
    once = MASKER.mask(value).value
    again = MASKER.mask(once)
    assert json.dumps(again.value, ensure_ascii=False) == json.dumps(once, ensure_ascii=False)
    assert not again.tags


@given(TEXT)
def test_json_stays_json(text: str) -> None:
    document = json.dumps({"a": text, "n": [1.0, text]})
    masked = json.loads(MASKER.mask_text(document).value)
    assert masked == MASKER.mask({"a": text, "n": [1.0, text]}).value


@given(st.text(max_size=40))
def test_any_text_can_be_looked_for(text: str) -> None:
    assert {tag.hash for tag in MASKER.mask_text(text.strip()).tags} <= {tag.hash for tag in MASKER.tag(text)}


@given(st.lists(TEXT, min_size=1, max_size=5))
def test_texts_masked_together_are_masked_as_alone(texts: list[str]) -> None:
    together = {f"n{number}": text for number, text in enumerate(texts)}
    assert list(MASKER.mask(together).value.values()) == [MASKER.mask_text(text).value for text in texts]


@given(TEXT)
def test_a_text_that_passes_at_first_sight_holds_nothing(text: str) -> None:
    if detection.is_plain(text):
        assert not list(detection.spans_in(text))


def test_numbers_that_json_lacks_pass() -> None:
    value = MASKER.mask({"a": float("nan"), "b": float("inf"), "c": -float("inf")}).value
    assert math.isnan(value["a"])
    assert value["b"] == -value["c"] == float("inf")


def test_a_small_at_sign_is_one() -> None:
    masked = MASKER.mask("written by anna\ufe6bpost.example.org yesterday").value
    assert "anna" not in masked
    assert "[EMAIL·" in masked
