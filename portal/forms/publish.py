"""What a publisher sends: a bundle, and what is said beside its bytes."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, cast

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.core.validators import ProhibitNullCharactersValidator
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from catalog.admission import Declared
from catalog.bundles.bundle import PERMISSIONS
from catalog.bundles.characters import shown
from catalog.bundles.digest import bundle_digest
from catalog.models import Risk, SkillSet, Stability, Team
from portal.forms.plain import PlainField
from portal.mending import HEADS, LONGEST, mend, plain_ends, typed_in
from portal.uploads import read_request_upload

MOST_TAGS = 20
LONGEST_TAG = 64
ACCEPTED = ".zip,.skill,.gz,.tgz,.tar,.md,.markdown,.yaml,.yml"


class TeamField(forms.ModelChoiceField):  # type: ignore[type-arg]  # the class takes no argument when Django runs
    """A team of those that the user publishes for; another one is refused by a code of its own."""

    default_error_messages = {
        "required": _("Choose the team that owns the skill."),
        "invalid_choice": _(
            "You do not publish for this team. An administrator can give you the role publisher in it."
        ),
    }


class TagsField(forms.CharField):
    """Tags with commas or spaces between them."""

    def to_python(self, value: Any) -> Any:
        """The tags in the order given, each once."""
        return tuple(dict.fromkeys(str(value or "").replace(",", " ").split()))

    def prepare_value(self, value: Any) -> Any:
        """The tags as they are typed."""
        return ", ".join(value) if isinstance(value, list | tuple) else value

    def validate(self, value: Any) -> None:
        """Raises ValidationError for too many or too long ones."""
        super().validate(" ".join(value))
        if len(value) > MOST_TAGS:
            raise ValidationError(_("Give at most %(most)d tags.") % {"most": MOST_TAGS})
        long = next((tag for tag in value if len(tag) > LONGEST_TAG), None)
        if long:
            raise ValidationError(
                _("The tag “%(tag)s…” is longer than %(most)d characters.")
                % {"tag": long[:20], "most": LONGEST_TAG}
            )

    def run_validators(self, value: Any) -> None:
        """Length is judged for each tag, not for all together; none holds what cannot be seen."""
        for tag in value:
            ProhibitNullCharactersValidator()(tag)
            if not tag.isprintable():
                raise ValidationError(
                    _("The tag “%(tag)s” holds a character that cannot be seen.") % {"tag": shown(tag)}
                )


class DeclarationForm(forms.Form):
    """What the publisher says beside the bytes; what stays empty comes from the bundle. Its heads, mended."""

    # The browser's own messages would stop a check that is to name every problem at once.
    use_required_attribute = False

    skill_text = forms.CharField(label="SKILL.md", required=False, strip=False, max_length=LONGEST)
    manifest_text = forms.CharField(label="manifest.yaml", required=False, strip=False, max_length=LONGEST)
    version = forms.CharField(
        label=_("Version"),
        required=False,
        max_length=settings.LIMITS.max_version_chars,
        help_text=_("Where the bundle names none. Empty: the next one."),
    )
    set = forms.ModelChoiceField(
        label=_("Skill set"),
        queryset=SkillSet.objects.all(),
        to_field_name="slug",
        required=False,
        empty_label=_("None"),
    )
    risk_level = forms.ChoiceField(
        label=_("Risk level"),
        required=False,
        choices=[("", _("What the checks suggest")), *Risk.choices],
    )
    stability = forms.ChoiceField(
        label=_("Stability"),
        required=False,
        choices=[("", _("By its version")), *Stability.choices],
    )
    permissions = forms.MultipleChoiceField(
        label=_("Permissions"),
        required=False,
        choices=[(name, name) for name in PERMISSIONS],
        widget=forms.CheckboxSelectMultiple,
    )
    tags = TagsField(label=_("Tags"), required=False, help_text=_("With commas between them."))
    notes = PlainField(
        label=_("Notes"),
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("What changed, for reviewers."),
    )

    @property
    def declared(self) -> Declared:
        """What the publisher says beside the bytes; of a form that is valid."""
        data = self.cleaned_data
        return Declared(
            version=data["version"] or None,
            risk_level=data["risk_level"] or None,
            permissions=tuple(data["permissions"]) or None,
            tags=data["tags"] or None,
            stability=data["stability"] or None,
            notes=data["notes"],
            set_slug=data["set"].slug if data["set"] else None,
        )

    @property
    def typed(self) -> dict[str, str]:
        """The heads as they were mended, by the name of their field; of a form that is valid."""
        return typed_in((name, self.cleaned_data[name]) for name in HEADS if name in self.data)


class PublishForm(DeclarationForm):
    """A file or a pasted SKILL.md, the team, and the declaration; what stays empty comes from the bundle."""

    file = forms.FileField(
        label=_("Bundle"),
        required=False,
        max_length=1000,
        # The reader of uploads has its own words for an empty file, the same as over REST.
        allow_empty_file=True,
        widget=forms.FileInput(
            attrs={"accept": ACCEPTED, "aria-describedby": "id_file_helptext id_file_error"}
        ),
    )
    text = forms.CharField(
        label=_("Or paste a SKILL.md"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 8})
    )
    team = TeamField(
        label=_("Team"),
        queryset=Team.objects.none(),
        to_field_name="slug",
        empty_label=None,
        help_text=_("Owns the skill."),
    )
    # Of which upload the heads were mended, and its name where it is one file alone.
    mended_base = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)
    mended_alone = forms.CharField(required=False, max_length=100, widget=forms.HiddenInput)

    def __init__(self, *args: Any, teams: QuerySet[Team], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = cast("TeamField", self.fields["team"])
        field.queryset = teams
        self.may_publish = bool(teams)
        if not self.is_bound and len(teams) == 1:
            self.initial.setdefault("team", teams[0].slug)
        elif len(teams) != 1:
            field.empty_label = _("Choose a team")

    def clean(self) -> dict[str, Any]:
        """A file or a text, and not both; the text becomes a file of that name."""
        cleaned: dict[str, Any] = super().clean() or {}
        file, text = cleaned.get("file"), cleaned.get("text") or ""
        if "file" in self.errors:
            return cleaned
        if file and text.strip():
            self.add_error("text", _("Send a file or a pasted text, not both; empty one of them."))
        elif not file and not text.strip() and self._mended_alone:
            cleaned["file"] = self._mended_alone
        elif not file and not text.strip():
            self.add_error("file", self._missing())
        elif not file:
            cleaned["file"] = SimpleUploadedFile("SKILL.md", text.replace("\r\n", "\n").encode())
        return cleaned

    @property
    def _mended_alone(self) -> UploadedFile | None:
        """A single file that was mended, where the browser did not send it again."""
        name = str(self.data.get("mended_alone", ""))
        field = next((field for field, paths in HEADS.items() if name in paths), "")
        text = str(self.data.get(field, "")) if field else ""
        return SimpleUploadedFile(name, plain_ends(text).encode("utf-8", "replace")) if text.strip() else None

    @property
    def base(self) -> str:
        """The digest of the upload, by which its mended heads are told from those of another."""
        self.upload.seek(0)
        return sha256(self.upload.read()).hexdigest()

    @property
    def mended(self) -> dict[str, str]:
        """What was typed into the heads of this very upload."""
        return self.typed if self.cleaned_data["mended_base"] == self.base else {}

    def _missing(self) -> str:
        if self.data.get("checked"):
            return str(
                _("Choose the file again: a browser does not keep it from page to page. The rest is kept.")
            )
        return str(_("Choose a file, or paste a SKILL.md."))

    @property
    def is_foreign(self) -> bool:
        """Whether the team is one that the user does not publish for."""
        return self.has_error("team", "invalid_choice")

    @property
    def upload(self) -> UploadedFile:
        """The file, or the text as one; of a form that is valid."""
        file: UploadedFile = self.cleaned_data["file"]
        return file

    @property
    def fingerprint(self) -> str:
        """What a check was about: the bytes, the team, the declaration. Of a form that is valid.

        A head that the report put into the form and nobody touched leaves the bytes as they are.
        """
        declared = self.declared
        self.upload.seek(0)
        trees = read_request_upload(self.upload).trees
        told = [
            self.base,
            [bundle_digest(mend(tree, self.mended).files) for tree in trees],
            self.cleaned_data["team"].slug,
            [declared.version, declared.risk_level, declared.permissions, declared.tags],
            [declared.stability, declared.notes, declared.set_slug],
        ]
        return sha256(json.dumps(told).encode()).hexdigest()[:32]
