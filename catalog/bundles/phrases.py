"""Phrases that try to turn a model against its user, in English, Chinese and Russian."""

from __future__ import annotations

import re

from catalog.bundles.rules import Rule, Rules

_MESSAGE = "a phrase tells the agent to set aside its instructions or to hide something from its user."
_HINT = "Say what the skill does, not what the agent should ignore or conceal; appeal where it is quoted."


def _rule(anchors: tuple[str, ...], pattern: str, word: str = "", behind: str = "") -> Rule:
    """A warning; it needs a word, and a pattern behind it."""
    return Rule(
        "prompt-injection-phrase",
        "warning",
        anchors,
        re.compile(pattern, re.IGNORECASE),
        _MESSAGE,
        _HINT,
        needs=(word,) if word else (),
        inside={word: re.compile(word + behind)} if word else {},
    )


RULES = Rules(
    (
        _rule(
            ("ignore", "disregard", "forget", "override", "bypass"),
            r"(?:ignore|disregard|forget|override|bypass)\s{1,3}"
            r"(?:(?:all|any|every|everything|of|in|the|your|my|these|those|and)\s{1,3}){0,4}"
            r"(?:previous|prior|above|earlier|preceding|former|foregoing|existing|system|original|safety)"
            r"(?:\s{1,3}(?:system|safety|user|developer)){0,1}\s{1,3}"
            r"(?:instructions?|prompts?|messages?|directions?|directives?|guidelines|guardrails|commands|context)\b",
        ),
        _rule(
            ("do not ", "don't ", "don’t ", "never ", "without "),
            r"(?:do not|don['’]t|never|without)\s{1,3}"
            r"(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|mention(?:ing)?\s{1,3}(?:this|it|that)\s{1,3}to"
            r"|reveal(?:ing)?\s{1,3}(?:this|it|that)\s{1,3}to)"
            r"\s{1,3}the\s{1,3}(?:user|human|operator)\b(?!['’]s)"
            r"(?!\s{1,3}(?:to|how|what|which|when|where|why|they|their|you|that|about|if|it|we|your|of|i|edit|run|do|choose)\b)",
        ),
        _rule(
            ("you are now ", "from now on"),
            r"(?:you are now|from now on,?\s{1,3}you (?:are|will be))\s{1,3}(?:an?\s{1,3}|in\s{1,3}|the\s{1,3})?"
            r"(?:DAN\b|unrestricted|unfiltered|jailbroken|uncensored|free from|developer mode|god mode|root mode)",
        ),
        _rule(
            ("reveal", "print", "output", "repeat", "leak", "exfiltrate"),
            r"(?:reveal|print|output|repeat|leak|exfiltrate)\s{1,3}(?:(?:your|the|all|hidden|full|entire)\s{1,3}){1,3}"
            r"system\s{1,3}(?:prompt|message|instructions)\b",
            "system",
            r"[\s?]{1,3}(?:prompt|message|instructions)",
        ),
        _rule(
            ("忽略", "无视", "忘记", "忽視", "忽视", "無視"),
            r"(?:忽略|无视|忘记|忽視|忽视|無視)[\s掉]{0,2}(?:你|您|所有|全部|一切|任何|的|之前|以上|先前|此前|上述|上面|前面|系统|原有|既有|這些|这些|所給){1,6}"
            r"(?:的)?(?:指令|指示|提示词|提示|命令|规则|說明|说明|要求|设定|约束)",
        ),
        _rule(
            (
                "不要告诉",
                "不要告訴",
                "别告诉",
                "不得告知",
                "不要告知",
                "瞒着",
                "不要让",
                "切勿告知",
                "切勿告诉",
            ),
            r"(?:不要告诉|不要告訴|别告诉|不得告知|不要告知|瞒着|切勿告知|切勿告诉)(?:用户|用戶|使用者|人类)"
            r"(?!如何|怎么|怎样|去|要|什么)|不要让(?:用户|使用者)(?:知道|察觉|发现)",
        ),
        _rule(
            ("игнорир", "проигнорир", "забудь", "не обращай", "отбрось"),
            r"(?:про)?(?:игнорир(?:уй|уйте|овать)|забудь(?:те)?|отбрось(?:те)?|не обращай(?:те)? внимания на)\s{1,3}"
            r"(?:(?:обо|все|всё|всех|любые|свои|твои|ваши|эти|про|о)\s{1,3}){0,3}"
            r"(?:предыдущ|прежн|прошл|предшеств|вышеуказан|вышеизложен|систем|ранее|перв)\w{0,12}\s{1,3}"
            r"(?:\w{1,14}\s{1,3}){0,2}(?:инструкц|указан|команд|сообщен|промпт|правил|подсказ)",
        ),
        _rule(
            (
                "не говори",
                "не сообщай",
                "не рассказывай",
                "не раскрывай",
                "ничего не говори",
                "втайне от",
                "тайно от",
            ),
            r"(?:(?:ничего\s)?не (?:говори|сообщай|рассказывай|раскрывай)(?:те)?\s{1,3}"
            r"(?:(?:об этом|это|ничего|этого)\s{1,3}){0,2}|(?:втайне|тайно) от\s{1,3})пользовател",
        ),
    )
)
