"""What the first rounds of runs have settled, and the files that hold skills (AG-18)."""

from psycopg.types.json import Jsonb

from werkbank.database.store import Store
from werkbank.domain.runs import Briefing
from werkbank.domain.skills import SkillFile

# A skill is a page of text. Larger files are none, and nobody's prompt waits for hundreds of them.
_MAX_BYTES = 12_000
_MAX_FILES = 50
_IS_SKILL = """
    ('skill' = ANY (tags) OR folder_id IN (SELECT id FROM file_folder WHERE name = 'Skills'))
    AND (mime_type = 'text/markdown' OR lower(file_name) LIKE '%%.md')"""


class Briefings(Store):
    """The principal's own."""

    def find(self, run_id: str) -> Briefing | None:
        """Return what a run's first round has settled, if it has."""
        row = self._row("SELECT werkbank.briefing(%s) AS found", (run_id,))
        return Briefing.model_validate_json(row["found"]) if row and row["found"] else None

    def add(self, run_id: str, briefing: Briefing) -> None:
        """Settle a run's briefing; one that is there already stays."""
        self._run(
            "INSERT INTO run_briefing (run_id, mandate_id, user_id, complexity, skills, system_prompt)"
            " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (run_id) DO NOTHING",
            (
                run_id, self._principal.mandate_id, self._principal.user_id, briefing.complexity,
                Jsonb([skill.to_wire() for skill in briefing.skills]), briefing.system_prompt,
            ),
        )  # fmt: skip

    def skill_files(self) -> tuple[SkillFile, ...]:
        """Return the Markdown files that are skills for the principal: the mandate's, and their own personal ones.

        The conditions stand beside row-level security, not in its place: what is seen of others' for another reason
        (an instance, the whole world) is no skill. Files to be neutralized never get into a prompt this way.
        """
        return self._list(
            SkillFile,
            f"""SELECT f.id, f.scope, string_agg(o.data, E'\n\n' ORDER BY o.sequence) AS text
                FROM (SELECT id, scope FROM file_item
                      WHERE {_IS_SKILL} AND mandate_id = %(mandate)s
                          AND (scope = 'mandate' OR scope = 'personal' AND user_id = %(user)s)
                          AND NOT neutralize AND size <= %(bytes)s
                      ORDER BY scope, updated_at DESC, id LIMIT %(files)s) f
                JOIN content_object o ON o.file_id = f.id AND o.content_type = 'text'
                GROUP BY f.id, f.scope""",
            {
                "mandate": self._principal.mandate_id, "user": self._principal.user_id, "bytes": _MAX_BYTES,
                "files": _MAX_FILES,
            },
        )  # fmt: skip

    def is_skill(self, file_id: str) -> bool:
        """Tell whether a file counts as a skill."""
        return (
            self._row(f"SELECT 1 AS found FROM file_item WHERE id = %(id)s AND {_IS_SKILL}", {"id": file_id})
            is not None
        )
