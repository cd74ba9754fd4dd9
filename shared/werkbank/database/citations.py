"""The sources a run may cite, numbered as they come up."""

from collections.abc import Sequence

from psycopg.types.json import Jsonb

from werkbank.database.store import Store
from werkbank.domain.runs import Citation, Source

_COLUMNS = ", ".join(Citation.model_fields)


class Citations(Store):
    """Numbered sources of the principal's runs."""

    def number(self, run_id: str, sources: Sequence[Source]) -> list[int]:
        """Return each source's number within the run, giving new ones to those not seen before."""
        # Parallel tools number at the same time: the run's row makes them take turns.
        self._run("SELECT 1 FROM run WHERE id = %s FOR UPDATE", (run_id,))
        rows = self._rows("SELECT chunk_id, number FROM citation WHERE run_id = %s", (run_id,))
        known: dict[str, int] = {row["chunk_id"]: row["number"] for row in rows}
        for source in sources:
            if source.chunk_id not in known:
                known[source.chunk_id] = len(known) + 1
                self._add(run_id, known[source.chunk_id], source)
        return [known[source.chunk_id] for source in sources]

    def of_run(self, run_id: str) -> tuple[Citation, ...]:
        """Return a run's sources by number."""
        return self._list(Citation, f"SELECT {_COLUMNS} FROM citation WHERE run_id = %s ORDER BY number", (run_id,))

    def _add(self, run_id: str, number: int, source: Source) -> None:
        self._run(
            """INSERT INTO citation
                   (run_id, number, mandate_id, user_id, chunk_id, file_id, url, file_name, place, quote, ref)
               VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)""",
            (
                run_id, number, self._principal.mandate_id, self._principal.user_id, source.chunk_id, source.file_id,
                source.url, source.file_name, source.place, source.quote, Jsonb(source.ref),
            ),
        )  # fmt: skip
