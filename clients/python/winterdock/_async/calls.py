"""Every operation of the server as a method. Printed by `npm run client:calls`. Not to be written by hand."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Union, cast

from .. import types
from .._call import CallOptions, Volume, Written
from .download import AsyncDownload
from .pages import AsyncPages
from .wire import AsyncUpload


class AsyncCalls:
    """One method for each operation: the path's parameters, then the body, then the query."""

    async def _answer(
        self,
        name: str,
        parameters: Sequence[str],
        body: object,
        query: object,
        options: Optional[CallOptions],
    ) -> Any:
        raise NotImplementedError

    def _pages(
        self,
        name: str,
        parameters: Sequence[str],
        body: object,
        query: object,
        options: Optional[CallOptions],
    ) -> AsyncPages[Any]:
        raise NotImplementedError

    def list_instances(
        self,
        query: Optional[types.ListQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.Instance]:
        """Lists instances, newest activity first, a page at a time; `since` and `until` bound their last
        state change or activity, `idle_over` and `idle_under` the seconds since then, `due_since` and
        `due_until` their next automatic move; `pending` asks for those with an operation under way, `host`
        for those that a server has awake or on its disk. Looking wakes nothing.
        """
        return self._pages("list_instances", (), None, query, options)

    async def create_instance(
        self,
        input: types.CreateInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Instance:
        """Creates an instance. It has no process and no file until its first resume or call."""
        return cast("types.Instance", await self._answer("create_instance", (), input, None, options))

    async def get_instance(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Instance:
        """Shows an instance. Looking wakes nothing."""
        return cast("types.Instance", await self._answer("get_instance", (id,), None, None, options))

    async def patch_instance(
        self,
        id: str,
        input: Optional[types.PatchInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Instance:
        """Changes settings that need no transition. A policy takes effect at the next start of a process.
        With `If-Match` nothing is changed when somebody changed the settings meanwhile.
        """
        return cast("types.Instance", await self._answer("patch_instance", (id,), input, None, options))

    async def delete_instance(
        self,
        id: str,
        input: Optional[types.DeleteInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Deletes an archived instance for good. Its id is never used again."""
        await self._answer("delete_instance", (id,), input, None, options)

    async def resume_instance(
        self,
        id: str,
        input: Optional[types.ResumeInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.ResumeAnswer:
        """Wakes an instance from any state but deleted. `force` clears a fault and tries once more."""
        return cast("types.ResumeAnswer", await self._answer("resume_instance", (id,), input, None, options))

    async def prefetch_instance(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.PrefetchAnswer:
        """Moves the file to the live drawer without starting a process. It is filed again when no call
        follows.
        """
        return cast("types.PrefetchAnswer", await self._answer("prefetch_instance", (id,), None, None, options))

    async def settle_instance(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Instance:
        """Completes or undoes an interrupted operation (`interrupted`) by looking at the file, as a start of
        the server does. Without one nothing changes.
        """
        return cast("types.Instance", await self._answer("settle_instance", (id,), None, None, options))

    async def suspend_instance(
        self,
        id: str,
        input: Optional[types.VerbBodyInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Instance:
        """Ends the process and keeps the file where it is. An ephemeral instance ends at its time instead:
        `conflict`.
        """
        return cast("types.Instance", await self._answer("suspend_instance", (id,), input, None, options))

    async def freeze_instance(
        self,
        id: str,
        input: Optional[types.VerbBodyInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Instance:
        """Files a suspended instance into the cold drawer. An ephemeral one is never frozen: `conflict`."""
        return cast("types.Instance", await self._answer("freeze_instance", (id,), input, None, options))

    async def archive_instance(
        self,
        id: str,
        input: Optional[types.VerbBodyInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Instance:
        """Files an active or frozen instance away; only resume or revive brings it back."""
        return cast("types.Instance", await self._answer("archive_instance", (id,), input, None, options))

    async def revive_instance(
        self,
        id: str,
        input: Optional[types.VerbBodyInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Instance:
        """Brings an archived instance back to active."""
        return cast("types.Instance", await self._answer("revive_instance", (id,), input, None, options))

    async def exec_in_instance(
        self,
        id: str,
        input: types.ExecInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.ExecAnswer:
        """Runs a shell script. Wakes a sleeping sandbox. Any byte may go in (`stdin_base64`) and come out: an
        output that is no UTF-8 comes in base64, and its encoding says so. With `Accept: text/event-stream`
        the events `woke`, `stdout`, `stderr` and `exit` are sent as they happen; a piece of output is
        `{'text'}`, or `{'text','encoding':'base64'}` when it is bytes, and no piece ends within a character.
        Closing the connection stops the script.
        """
        return cast("types.ExecAnswer", await self._answer("exec_in_instance", (id,), input, None, options))

    async def eval_in_instance(
        self,
        id: str,
        input: types.EvalInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.EvalAnswer:
        """Evaluates JavaScript or Python. Wakes a sleeping sandbox. Closing the connection stops it."""
        return cast("types.EvalAnswer", await self._answer("eval_in_instance", (id,), input, None, options))

    async def attach_to_instance(
        self,
        id: str,
        attachment: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Attachment:
        """Keeps an instance in its state while a terminal is open: no automatic moves. Wakes nothing. The
        caller makes up the id of the attachment and renews it by the same call; one that is not renewed ends.
        """
        return cast("types.Attachment", await self._answer("attach_to_instance", (id, attachment,), None, None, options))

    async def detach_from_instance(
        self,
        id: str,
        attachment: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Ends an attachment: the idle clock starts."""
        await self._answer("detach_from_instance", (id, attachment,), None, None, options)

    async def start_run(
        self,
        id: str,
        input: types.StartRunInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.SandboxRun:
        """Begins a shell script that outlives this request, and answers when that is recorded. It wakes a
        sleeping instance, takes its turn among the calls, and counts as one: it is activity, and filing waits
        for it, or ends it. After a restart of the server it is `lost`.
        """
        return cast("types.SandboxRun", await self._answer("start_run", (id,), input, None, options))

    def list_runs(
        self,
        id: str,
        query: Optional[types.RunsQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.SandboxRun]:
        """Lists the runs of an instance, newest first: those under way, and as many ended ones as it keeps."""
        return self._pages("list_runs", (id,), None, query, options)

    async def get_run(
        self,
        id: str,
        run: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.SandboxRun:
        """Shows a run: whether it is under way, or how it ended."""
        return cast("types.SandboxRun", await self._answer("get_run", (id, run,), None, None, options))

    async def get_run_output(
        self,
        id: str,
        run: str,
        query: Optional[types.RunOutputQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.RunOutput:
        """Reads the output of a run so far. The server keeps the newest part of it in memory; `dropped` says
        what is missing. Offsets count the bytes of both outputs together. With `Accept: text/event-stream` it
        follows the run: events `run` as its state changes, `stdout` and `stderr`, `gap` for what is no longer
        there, and at last `exit`. The id of an event is the offset after it: `Last-Event-ID` goes on at
        exactly that byte. Closing the connection does not stop the run.
        """
        return cast("types.RunOutput", await self._answer("get_run_output", (id, run,), None, query, options))

    async def stop_run(
        self,
        id: str,
        run: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.SandboxRun:
        """Stops a run, and answers with its end, or, when that takes longer than three seconds, without. What
        its commands wrote until then stays. One that has ended stays as it is.
        """
        return cast("types.SandboxRun", await self._answer("stop_run", (id, run,), None, None, options))

    def list_instance_logs(
        self,
        id: str,
        query: Optional[types.LogsQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.PrintedLine]:
        """Reads what calls, runs, terminals, schedules and components printed in an instance, the newest line
        first. Wakes nothing. With `follow=1` or `Accept: text/event-stream` it follows: events `line`, the
        oldest first, and `gap` where lines are missing; `Last-Event-ID`, or `cursor`, goes on after that
        line. Support needs a `reason`, which the ledger keeps.
        """
        return self._pages("list_instance_logs", (id,), None, query, options)

    def list_tenant_logs(
        self,
        tenant: str,
        query: Optional[types.LogsQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.PrintedLine]:
        """Reads, or follows, the same of all instances of a tenant together."""
        return self._pages("list_tenant_logs", (tenant,), None, query, options)

    async def list_terminals(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Terminal]:
        """Lists the terminals of an instance: the open ones, and the last ones that ended, with the reason.
        They are in memory: a restart of the server ends them.
        """
        return cast("List[types.Terminal]", await self._answer("list_terminals", (id,), None, None, options))

    async def open_terminal(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Terminal:
        """Opens a terminal. Wakes nothing."""
        return cast("types.Terminal", await self._answer("open_terminal", (id,), None, None, options))

    async def close_terminal(
        self,
        id: str,
        terminal: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Closes a terminal with its scrollback, and stops the line that runs in it."""
        await self._answer("close_terminal", (id, terminal,), None, None, options)

    async def stream_terminal(
        self,
        id: str,
        terminal: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncDownload:
        """Shows a terminal: first what stands in it, then what happens, as server-sent events (`line`,
        `waits`, `woke`, `stdout`, `stderr`, `gap`, `refused`, `exit`, `note`, `clear`, and at last `gone`).
        `Last-Event-ID` goes on after that entry. As long as a stream is open, and for a minute after the last
        one, the terminal counts as shown: one that is used holds its instance awake.
        """
        return cast("AsyncDownload", await self._answer("stream_terminal", (id, terminal,), None, None, options))

    async def type_in_terminal(
        self,
        id: str,
        terminal: str,
        input: types.TerminalLineInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.SandboxRun:
        """Runs a line in a terminal, in the directory that the one before left, as a run. One line runs at a
        time: `conflict` meanwhile.
        """
        return cast("types.SandboxRun", await self._answer("type_in_terminal", (id, terminal,), input, None, options))

    async def interrupt_terminal(
        self,
        id: str,
        terminal: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Terminal:
        """Stops the line that runs in a terminal."""
        return cast("types.Terminal", await self._answer("interrupt_terminal", (id, terminal,), None, None, options))

    async def clear_terminal(
        self,
        id: str,
        terminal: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Terminal:
        """Removes the scrollback of a terminal, for everybody who shows it. A line that runs goes on and
        stays.
        """
        return cast("types.Terminal", await self._answer("clear_terminal", (id, terminal,), None, None, options))

    async def complete_line(
        self,
        id: str,
        input: types.CompletionQuery,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Completion:
        """Says how a line of shell may go on: with commands where one begins, else with paths. Reads the file
        where it rests, and wakes nothing.
        """
        return cast("types.Completion", await self._answer("complete_line", (id,), input, None, options))

    async def list_moments(
        self,
        id: str,
        query: Optional[types.MomentsQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Moment]:
        """Lists the moments of an instance that the replica can open, those next to a time, the newest first;
        of a deleted one too. Every read of volumes takes one as `at`.
        """
        return cast("List[types.Moment]", await self._answer("list_moments", (id,), None, query, options))

    async def name_moment(
        self,
        id: str,
        name: str,
        input: Optional[types.NameMomentInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Moment:
        """Names the newest moment of an instance up to `time`, or what it has now, once that is shipped. It
        is kept, as a copy of its own, until the name is removed or the instance is deleted. The same once
        more changes nothing.
        """
        return cast("types.Moment", await self._answer("name_moment", (id, name,), input, None, options))

    async def remove_moment(
        self,
        id: str,
        name: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Removes the name of a moment and the copy that was kept for it."""
        await self._answer("remove_moment", (id, name,), None, None, options)

    async def list_volumes(
        self,
        id: str,
        query: Optional[types.PastQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.VolumeInfo]:
        """Lists the three volumes with what they hold and promise."""
        return cast("List[types.VolumeInfo]", await self._answer("list_volumes", (id,), None, query, options))

    def list_files(
        self,
        id: str,
        volume: Volume,
        query: Optional[types.FilesQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.FileInfo]:
        """Lists the files of a volume by path. Wakes nothing."""
        return self._pages("list_files", (id, volume,), None, query, options)

    def list_folder(
        self,
        id: str,
        volume: Volume,
        query: Optional[types.FolderQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.FolderItem]:
        """Lists what lies directly in a folder, folders first. Wakes nothing."""
        return self._pages("list_folder", (id, volume,), None, query, options)

    async def compare(
        self,
        id: str,
        volume: Volume,
        query: types.CompareQuery,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Comparison:
        """Compares a volume with a snapshot, or with what it was at a moment: what was added, removed and
        changed since. Wakes nothing.
        """
        return cast("types.Comparison", await self._answer("compare", (id, volume,), None, query, options))

    async def list_tables(
        self,
        id: str,
        volume: Volume,
        query: types.DatabaseQuery,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Database:
        """Lists the tables and views of a file that is a SQLite database of up to 64 MiB. Wakes nothing."""
        return cast("types.Database", await self._answer("list_tables", (id, volume,), None, query, options))

    async def list_rows(
        self,
        id: str,
        volume: Volume,
        query: types.DatabaseRowsQuery,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.DatabaseRows:
        """Reads rows of a table or view of a file that is a SQLite database. Wakes nothing."""
        return cast("types.DatabaseRows", await self._answer("list_rows", (id, volume,), None, query, options))

    async def make_folder(
        self,
        id: str,
        volume: Volume,
        input: types.MakeFolderInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Makes a folder and its missing parents. Wakes a sleeping sandbox."""
        await self._answer("make_folder", (id, volume,), input, None, options)

    async def delete_folder(
        self,
        id: str,
        volume: Volume,
        query: types.DeleteFolderQuery,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Deletes an empty folder, or with `recursive` one with all that is in it. Wakes a sleeping sandbox."""
        await self._answer("delete_folder", (id, volume,), None, query, options)

    async def get_file(
        self,
        id: str,
        volume: Volume,
        path: str,
        query: Optional[types.PastQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncDownload:
        """Gives the bytes of a file, or a range of them. Wakes nothing."""
        return cast("AsyncDownload", await self._answer("get_file", (id, volume, path,), None, query, options))

    async def put_file(
        self,
        id: str,
        volume: Volume,
        path: str,
        body: AsyncUpload,
        *,
        options: Optional[CallOptions] = None,
    ) -> Written:
        """Writes a file. Wakes a sleeping sandbox. Durable when answered."""
        return cast("Written", await self._answer("put_file", (id, volume, path,), body, None, options))

    async def delete_file(
        self,
        id: str,
        volume: Volume,
        path: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Deletes a file. Wakes a sleeping sandbox."""
        await self._answer("delete_file", (id, volume, path,), None, None, options)

    async def move_file(
        self,
        id: str,
        volume: Volume,
        input: types.MoveInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Moves a file or a folder within its volume. Wakes a sleeping sandbox."""
        await self._answer("move_file", (id, volume,), input, None, options)

    async def take_back(
        self,
        id: str,
        volume: Volume,
        input: types.TakeBackInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.TakenBack:
        """Puts a file or a folder that was there at a moment in the place of what is there now, with all
        below it and nothing else, in one transaction of up to 64 MiB. Wakes a sleeping sandbox.
        """
        return cast("types.TakenBack", await self._answer("take_back", (id, volume,), input, None, options))

    def search_files(
        self,
        id: str,
        query: types.SearchQuery,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.SearchHit]:
        """Searches names or contents. Wakes nothing."""
        return self._pages("search_files", (id,), None, query, options)

    async def query_files(
        self,
        id: str,
        input: types.SqlInput,
        query: Optional[types.PastQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.SqlAnswer:
        """Runs read-only SQL over the file table. Wakes nothing; nothing else can be reached."""
        return cast("types.SqlAnswer", await self._answer("query_files", (id,), input, query, options))

    async def take_snapshot(
        self,
        id: str,
        input: Optional[types.TakeSnapshotInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Snapshot:
        """Keeps a copy of what an instance holds now, without its tmp. The instance goes on running, or
        sleeping.
        """
        return cast("types.Snapshot", await self._answer("take_snapshot", (id,), input, None, options))

    def list_snapshots(
        self,
        query: Optional[types.SnapshotsQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.Snapshot]:
        """Lists snapshots, newest first, a page at a time."""
        return self._pages("list_snapshots", (), None, query, options)

    async def get_snapshot(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Snapshot:
        """Shows a snapshot."""
        return cast("types.Snapshot", await self._answer("get_snapshot", (id,), None, None, options))

    async def delete_snapshot(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Deletes a snapshot. Instances that came from it keep what they have."""
        await self._answer("delete_snapshot", (id,), None, None, options)

    async def restore_snapshot(
        self,
        id: str,
        input: Optional[types.RestoreInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Instance]:
        """Makes 1 to 1 000 new instances from a snapshot, all or none. `start` resumes them in the
        background.
        """
        return cast("List[types.Instance]", await self._answer("restore_snapshot", (id,), input, None, options))

    async def create_blueprint(
        self,
        input: Union[types.CreateBlueprintInput, AsyncUpload],
        query: Optional[types.CreateBlueprintQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Blueprint:
        """Makes a blueprint from the workspace of an instance, or with `?name=` from a sandbox’s SQLite file
        in the body.
        """
        return cast("types.Blueprint", await self._answer("create_blueprint", (), input, query, options))

    def list_blueprints(
        self,
        query: Optional[types.BlueprintsQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.Blueprint]:
        """Lists blueprints by name, a page at a time."""
        return self._pages("list_blueprints", (), None, query, options)

    async def get_blueprint(
        self,
        name: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Blueprint:
        """Shows a blueprint."""
        return cast("types.Blueprint", await self._answer("get_blueprint", (name,), None, None, options))

    async def delete_blueprint(
        self,
        name: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Deletes a blueprint. Clones keep what they have."""
        await self._answer("delete_blueprint", (name,), None, None, options)

    async def clone_blueprint(
        self,
        name: str,
        input: types.CloneInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Instance]:
        """Makes 1 to 1 000 new instances from a blueprint, all or none. `start` resumes them in the
        background.
        """
        return cast("List[types.Instance]", await self._answer("clone_blueprint", (name,), input, None, options))

    async def get_instance_lineage(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Lineage:
        """Shows what an instance came from and what came from it, with what each takes on disk."""
        return cast("types.Lineage", await self._answer("get_instance_lineage", (id,), None, None, options))

    async def get_snapshot_lineage(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Lineage:
        """Shows what a snapshot came from and what came from it."""
        return cast("types.Lineage", await self._answer("get_snapshot_lineage", (id,), None, None, options))

    async def get_blueprint_lineage(
        self,
        name: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Lineage:
        """Shows what came from a blueprint."""
        return cast("types.Lineage", await self._answer("get_blueprint_lineage", (name,), None, None, options))

    async def ship_instance(
        self,
        id: str,
        input: Optional[types.ShipInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncDownload:
        """Makes a signed bundle of an instance: its workspace, or with `include_private` all volumes; with
        `at` as of a moment, which the manifest names. Wakes nothing.
        """
        return cast("AsyncDownload", await self._answer("ship_instance", (id,), input, None, options))

    async def checkout_instance(
        self,
        id: str,
        query: Optional[types.CheckoutQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncDownload:
        """Gives the workspace as a directory tree with a `.gitignore` for the private volumes, without the
        settings and hooks of repositories. Wakes nothing.
        """
        return cast("AsyncDownload", await self._answer("checkout_instance", (id,), None, query, options))

    def list_instance_shares(
        self,
        id: str,
        query: Optional[types.InstanceSharesQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.Share]:
        """Lists the bundles that were made of an instance, newest first."""
        return self._pages("list_instance_shares", (id,), None, query, options)

    def list_shares(
        self,
        query: Optional[types.SharesQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.Share]:
        """Lists the bundles that were made, newest first, a page at a time."""
        return self._pages("list_shares", (), None, query, options)

    async def inspect_bundle(
        self,
        body: AsyncUpload,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Inspection:
        """Inspects a bundle: its signer, its faults, and the share of this server that it is. Stores nothing
        of it.
        """
        return cast("types.Inspection", await self._answer("inspect_bundle", (), body, None, options))

    async def import_bundle(
        self,
        body: AsyncUpload,
        query: types.ImportQuery,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Imported:
        """Makes a new instance from a bundle, or from a bare VFS file, and says whether it is signed. A share
        of this server that lost its signature is refused.
        """
        return cast("types.Imported", await self._answer("import_bundle", (), body, query, options))

    def list_workbooks(
        self,
        query: Optional[types.WorkbooksQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.Workbook]:
        """Lists workbooks by tenant and id, a page at a time."""
        return self._pages("list_workbooks", (), None, query, options)

    async def plan_source(
        self,
        body: AsyncUpload,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.PlanAnswer:
        """Answers the plan of the org text that is the body, or all its problems. Stores nothing."""
        return cast("types.PlanAnswer", await self._answer("plan_source", (), body, None, options))

    async def get_workbook(
        self,
        id: str,
        query: Optional[types.WorkbookVersionQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncDownload:
        """Reads the source of a workbook, byte for byte; `version` asks for an older one."""
        return cast("AsyncDownload", await self._answer("get_workbook", (id,), None, query, options))

    async def put_workbook(
        self,
        id: str,
        body: AsyncUpload,
        query: Optional[types.WorkbookQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Workbook:
        """Stores the org text that is the body as the newest version. The same bytes again are no new
        version. A source with problems is stored too, and nothing can dock to it.
        """
        return cast("types.Workbook", await self._answer("put_workbook", (id,), body, query, options))

    async def delete_workbook(
        self,
        id: str,
        query: Optional[types.WorkbookQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Deletes a workbook with all its versions, when no sandbox is docked to it."""
        await self._answer("delete_workbook", (id,), None, query, options)

    async def get_workbook_plan(
        self,
        id: str,
        query: Optional[types.WorkbookVersionQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.PlanAnswer:
        """Answers the plan of a version: worlds, components and what feeds what; or all problems of its
        source.
        """
        return cast("types.PlanAnswer", await self._answer("get_workbook_plan", (id,), None, query, options))

    def list_workbook_versions(
        self,
        id: str,
        query: Optional[types.WorkbookVersionsQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.WorkbookVersion]:
        """Lists the versions of a workbook, newest first, a page at a time."""
        return self._pages("list_workbook_versions", (id,), None, query, options)

    async def check_workbook_upgrade(
        self,
        id: str,
        query: types.UpgradeQuery,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.UpgradeAnswer:
        """Shows what changes from one version to another, and which changes break a docked sandbox."""
        return cast("types.UpgradeAnswer", await self._answer("check_workbook_upgrade", (id,), None, query, options))

    async def call_component(
        self,
        id: str,
        component: str,
        input: Optional[types.ComponentCallInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.ComponentCallAnswer:
        """Calls a component of the workbook that the sandbox is docked to, by its name, or by its path with
        encoded slashes. Wakes a sleeping sandbox. What the component did wrong is the `error` of a good
        answer: a call that fails keeps nothing. With `Accept: text/event-stream` the events `woke`,
        `running`, `log` and `component` are sent as they happen, and `result` last. Closing the connection
        stops it.
        """
        return cast("types.ComponentCallAnswer", await self._answer("call_component", (id, component,), input, None, options))

    async def call_workflow(
        self,
        id: str,
        input: Optional[types.WorkflowCallInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.WorkflowCallAnswer:
        """Runs a workflow of the workbook that the sandbox is docked to: the only one, or that named by
        `world`. Its components run in the order of their dependencies; an error stops what depends on it.
        Wakes a sleeping sandbox. With `Accept: text/event-stream` the events `woke`, `running`, `log` and
        `component` are sent as they happen, and `result` last. Closing the connection stops it.
        """
        return cast("types.WorkflowCallAnswer", await self._answer("call_workflow", (id,), input, None, options))

    async def raw_instance(
        self,
        id: str,
        query: Optional[types.RawQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncDownload:
        """Gives the file of an instance that is not awake byte for byte as it lies, all volumes, deleted
        bytes and damage included; an archived one compressed (zstd). With `part=log` what SQLite left beside
        it. Opens and wakes nothing.
        """
        return cast("AsyncDownload", await self._answer("raw_instance", (id,), None, query, options))

    async def salvage_instance(
        self,
        id: str,
        input: Optional[types.SalvageInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.SalvageAnswer:
        """Makes a new instance from every readable file of one that is not awake, and lists what is not
        readable. The damaged file is left as it is; tmp is left out.
        """
        return cast("types.SalvageAnswer", await self._answer("salvage_instance", (id,), input, None, options))

    async def restore_instance(
        self,
        id: str,
        input: types.RestoreInstanceInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Restored:
        """Replaces the file of an instance that is not awake by a snapshot of the same tenant, by the newest
        moment up to `time`, or by the named `moment`. The old file is set aside, a fault is cleared, the
        state stays. With a moment, what it had is kept as a named moment, which `undo` names.
        """
        return cast("types.Restored", await self._answer("restore_instance", (id,), input, None, options))

    async def undo_restore(
        self,
        id: str,
        input: Optional[types.UndoRestoreInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.RestoredMoment:
        """Undoes the last restore of an instance to a moment: brings back what it replaced. Once more, the
        one before. What it has now is kept as a named moment, which `undo` names.
        """
        return cast("types.RestoredMoment", await self._answer("undo_restore", (id,), input, None, options))

    async def instance_from_moment(
        self,
        id: str,
        input: types.FromMomentInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Instance:
        """Makes a new instance of what one had at the newest moment up to `time`, or at the named `moment`.
        The one that it is made of stays as it is, or is deleted.
        """
        return cast("types.Instance", await self._answer("instance_from_moment", (id,), input, None, options))

    async def get_plan(
        self,
        id: str,
        query: types.PlanQuery,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Plan:
        """Shows the hops from where an instance is to a state, and what they cost. Changes nothing."""
        return cast("types.Plan", await self._answer("get_plan", (id,), None, query, options))

    async def walk_plan(
        self,
        id: str,
        input: types.RunPlanInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Instance:
        """Runs the plan that brings an instance to a state: hop by hop, each in the ledger. `active` is
        passed through without a process. A plan that fails leaves the instance in the state of its last hop.
        """
        return cast("types.Instance", await self._answer("walk_plan", (id,), input, None, options))

    async def start_job(
        self,
        input: types.StartJobInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> Union[types.DryRun, types.JobStarted]:
        """Applies a verb to many instances: to those named, or to all that match now. With `dry_run` it only
        says what it would do, which instances it would skip, and why.
        """
        return cast("Union[types.DryRun, types.JobStarted]", await self._answer("start_job", (), input, None, options))

    def list_jobs(
        self,
        query: Optional[types.JobsQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.Job]:
        """Lists jobs, newest first."""
        return self._pages("list_jobs", (), None, query, options)

    async def get_job(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Job:
        """Shows a job and how far it is."""
        return cast("types.Job", await self._answer("get_job", (id,), None, None, options))

    async def cancel_job(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Job:
        """Cancels a job: moves under way finish, and no further ones begin. An ended job does not change."""
        return cast("types.Job", await self._answer("cancel_job", (id,), None, None, options))

    def list_job_results(
        self,
        id: str,
        query: Optional[types.JobResultsQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.JobResult]:
        """Lists the result for each instance of a job, in the job’s order."""
        return self._pages("list_job_results", (id,), None, query, options)

    def list_schedules(
        self,
        id: str,
        query: Optional[types.SchedulesQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.Schedule]:
        """Lists the schedules of an instance, oldest first: those made here and those that its workbook
        declares. Those of an archived instance rest.
        """
        return self._pages("list_schedules", (id,), None, query, options)

    async def create_schedule(
        self,
        id: str,
        input: Optional[types.CreateScheduleInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Schedule:
        """Schedules a command or a component: by `cron` (five fields, or six with the seconds first), or at
        `at`, which `repeat` repeats as org does. A firing wakes the instance, behind people’s requests.
        `missed` says what happens to times at which the server did not run: `skip` (also of a run that a
        killed server left: at most once), `once` or `all` (at least once; at most the last 50).
        """
        return cast("types.Schedule", await self._answer("create_schedule", (id,), input, None, options))

    async def get_schedule(
        self,
        id: str,
        schedule: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Schedule:
        """Shows a schedule, when it is next due and how it last went."""
        return cast("types.Schedule", await self._answer("get_schedule", (id, schedule,), None, None, options))

    async def patch_schedule(
        self,
        id: str,
        schedule: str,
        input: Optional[types.PatchScheduleInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Schedule:
        """Changes or pauses a schedule. Times that pass while it is paused are not made up for. One that the
        workbook declares can only be paused.
        """
        return cast("types.Schedule", await self._answer("patch_schedule", (id, schedule,), input, None, options))

    async def delete_schedule(
        self,
        id: str,
        schedule: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Removes a schedule and its history. A run under way goes on."""
        await self._answer("delete_schedule", (id, schedule,), None, None, options)

    async def run_schedule(
        self,
        id: str,
        schedule: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.ScheduleRun:
        """Runs a schedule now, also a paused one, and answers when that has begun: its history says how it
        ends.
        """
        return cast("types.ScheduleRun", await self._answer("run_schedule", (id, schedule,), None, None, options))

    def list_schedule_runs(
        self,
        id: str,
        schedule: str,
        query: Optional[types.SchedulesQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.ScheduleRun]:
        """Lists the last 100 runs of a schedule, newest first."""
        return self._pages("list_schedule_runs", (id, schedule,), None, query, options)

    def list_tenants(
        self,
        query: Optional[types.TenantsQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.Tenant]:
        """Lists tenants by name, with what they use and their quotas."""
        return self._pages("list_tenants", (), None, query, options)

    async def get_tenant(
        self,
        tenant: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Tenant:
        """Shows a tenant: counts by state, bytes by drawer, thresholds, quotas with their use."""
        return cast("types.Tenant", await self._answer("get_tenant", (tenant,), None, None, options))

    async def patch_tenant(
        self,
        tenant: str,
        input: Optional[types.TenantPatchInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Tenant:
        """Changes a tenant’s thresholds and quotas. What it has beyond a new quota stays; it gets no more."""
        return cast("types.Tenant", await self._answer("patch_tenant", (tenant,), input, None, options))

    async def forget_tenant(
        self,
        tenant: str,
        input: Optional[types.ForgetTenantInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> Union[types.TenantForgetPlan, types.ForgettingStarted]:
        """Forgets a tenant for good: sandboxes, snapshots, blueprints, shares, keys, people, search words;
        the ledger keeps ids only. A job does it, which nothing cancels. With `dry_run` it only says what
        would go and what would still hold it; else its name must be in `confirm`.
        """
        return cast("Union[types.TenantForgetPlan, types.ForgettingStarted]", await self._answer("forget_tenant", (tenant,), input, None, options))

    async def wake_times(
        self,
        query: Optional[types.WakeTimesQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.WakeTime]:
        """Shows how long wakes took in the last days, by where the file came from; kept over restarts."""
        return cast("List[types.WakeTime]", await self._answer("wake_times", (), None, query, options))

    async def preview_thresholds(
        self,
        input: Optional[types.PreviewInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.PreviewAnswer:
        """Counts which instances other thresholds, global or of a tenant, would suspend, freeze or end within
        a minute, and which they would leave. Changes nothing.
        """
        return cast("types.PreviewAnswer", await self._answer("preview_thresholds", (), input, None, options))

    async def simulate(
        self,
        input: Optional[types.SimulateInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Simulation:
        """Computes from the ledger what other thresholds would have meant in the last days: process-hours,
        cold wakes, thaws. Changes nothing.
        """
        return cast("types.Simulation", await self._answer("simulate", (), input, None, options))

    async def instance_env(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Variable]:
        """Lists the variables that an instance’s guests have: its own override those of its blueprint, which
        override those of its tenant.
        """
        return cast("List[types.Variable]", await self._answer("instance_env", (id,), None, None, options))

    async def patch_instance_env(
        self,
        id: str,
        input: types.EnvPatchInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Variable]:
        """Sets and removes an instance’s own variables. Values by name; null removes one, and what is not
        named stays. Holds for the next call.
        """
        return cast("List[types.Variable]", await self._answer("patch_instance_env", (id,), input, None, options))

    async def tenant_env(
        self,
        tenant: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Variable]:
        """Lists the variables of every sandbox of a tenant."""
        return cast("List[types.Variable]", await self._answer("tenant_env", (tenant,), None, None, options))

    async def patch_tenant_env(
        self,
        tenant: str,
        input: types.EnvPatchInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Variable]:
        """Sets and removes a tenant’s variables. Values by name; null removes one, and what is not named
        stays. Holds for the next call.
        """
        return cast("List[types.Variable]", await self._answer("patch_tenant_env", (tenant,), input, None, options))

    async def blueprint_env(
        self,
        name: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Variable]:
        """Lists the variables of every clone of a blueprint."""
        return cast("List[types.Variable]", await self._answer("blueprint_env", (name,), None, None, options))

    async def patch_blueprint_env(
        self,
        name: str,
        input: types.EnvPatchInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Variable]:
        """Sets and removes a blueprint’s variables, which all its clones have. Values by name; null removes
        one, and what is not named stays. Holds for the next call.
        """
        return cast("List[types.Variable]", await self._answer("patch_blueprint_env", (name,), input, None, options))

    async def instance_secrets(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Secret]:
        """Lists the secrets that requests of an instance carry, its own and its tenant’s, without their
        values.
        """
        return cast("List[types.Secret]", await self._answer("instance_secrets", (id,), None, None, options))

    async def set_instance_secret(
        self,
        id: str,
        name: str,
        input: types.SecretInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Secret:
        """Sets a secret of an instance; it replaces its tenant’s secret of that name. Nobody can read it
        again.
        """
        return cast("types.Secret", await self._answer("set_instance_secret", (id, name,), input, None, options))

    async def delete_instance_secret(
        self,
        id: str,
        name: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Removes a secret of an instance."""
        await self._answer("delete_instance_secret", (id, name,), None, None, options)

    async def tenant_secrets(
        self,
        tenant: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Secret]:
        """Lists the secrets that requests of every sandbox of a tenant carry, without their values."""
        return cast("List[types.Secret]", await self._answer("tenant_secrets", (tenant,), None, None, options))

    async def set_tenant_secret(
        self,
        tenant: str,
        name: str,
        input: types.SecretInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Secret:
        """Sets a secret of a tenant. Nobody can read it again."""
        return cast("types.Secret", await self._answer("set_tenant_secret", (tenant, name,), input, None, options))

    async def delete_tenant_secret(
        self,
        tenant: str,
        name: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Removes a secret of a tenant."""
        await self._answer("delete_tenant_secret", (tenant, name,), None, None, options)

    async def instance_usage(
        self,
        id: str,
        query: Optional[types.UsageQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.InstanceUsage:
        """Shows what an instance used over time: processor seconds, calls, memory, disk, by the hour or more.
        Steps in which it did nothing are left out.
        """
        return cast("types.InstanceUsage", await self._answer("instance_usage", (id,), None, query, options))

    async def instance_life(
        self,
        id: str,
        query: Optional[types.LifeQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.InstanceLife:
        """Shows the life of an instance from the ledger: the time in each state and its hops, in a bounded
        number of columns.
        """
        return cast("types.InstanceLife", await self._answer("instance_life", (id,), None, query, options))

    async def tenant_usage(
        self,
        tenant: str,
        query: Optional[types.UsageQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.TenantUsage:
        """Shows what a tenant’s instances used over time, together: processor seconds, calls, memory, disk,
        wakes, faults, active time.
        """
        return cast("types.TenantUsage", await self._answer("tenant_usage", (tenant,), None, query, options))

    async def server_usage(
        self,
        query: Optional[types.UsageQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.TenantUsage:
        """Shows the same of the whole server."""
        return cast("types.TenantUsage", await self._answer("server_usage", (), None, query, options))

    async def instance_load(
        self,
        id: str,
        query: Optional[types.LoadQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.InstanceLoad:
        """Shows what an instance takes while it takes it: processor seconds, memory, calls, bytes in and out,
        disk. Each ten seconds of the last hour, each minute of the last day, each hour before. Steps in which
        nothing was measured are left out. The samples of the last hour are in memory and lost when the server
        stops.
        """
        return cast("types.InstanceLoad", await self._answer("instance_load", (id,), None, query, options))

    async def export_instance_load(
        self,
        id: str,
        query: Optional[types.LoadQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncDownload:
        """Downloads the points of the same as CSV."""
        return cast("AsyncDownload", await self._answer("export_instance_load", (id,), None, query, options))

    async def tenant_load(
        self,
        tenant: str,
        query: Optional[types.TopLoadQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.TopLoad:
        """Shows the same of a tenant’s instances together, and which of them took the most."""
        return cast("types.TopLoad", await self._answer("tenant_load", (tenant,), None, query, options))

    async def export_tenant_load(
        self,
        tenant: str,
        query: Optional[types.TopLoadQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncDownload:
        """Downloads the points of the same as CSV."""
        return cast("AsyncDownload", await self._answer("export_tenant_load", (tenant,), None, query, options))

    async def server_load(
        self,
        query: Optional[types.TopLoadQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.TopLoad:
        """Shows the same of all instances of this server together, and which tenants took the most."""
        return cast("types.TopLoad", await self._answer("server_load", (), None, query, options))

    async def export_server_load(
        self,
        query: Optional[types.TopLoadQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncDownload:
        """Downloads the points of the same as CSV."""
        return cast("AsyncDownload", await self._answer("export_server_load", (), None, query, options))

    def list_instance_events(
        self,
        id: str,
        query: Optional[types.InstanceEventsQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.Event]:
        """Lists what happened to an instance, newest first."""
        return self._pages("list_instance_events", (id,), None, query, options)

    def list_events(
        self,
        query: Optional[types.EventsQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.Event]:
        """Lists what happened, newest first. A refusal that repeats is its first line, then one line now and
        then with how often, since when and when last.
        """
        return self._pages("list_events", (), None, query, options)

    async def export_events(
        self,
        query: types.ExportQuery,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncDownload:
        """Downloads the ledger, newest first, as CSV or JSON lines, narrowed by the filters of the list. The
        download is itself a line of the ledger; the same one again is counted.
        """
        return cast("AsyncDownload", await self._answer("export_events", (), None, query, options))

    async def get_ledger_head(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.LedgerHead:
        """Gives the signed head of the ledger: number and hash of its last line. Kept elsewhere, it proves
        later that nothing up to there was changed or removed.
        """
        return cast("types.LedgerHead", await self._answer("get_ledger_head", (), None, None, options))

    async def verify_ledger(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.LedgerProof:
        """Verifies that no line of the ledger was changed, removed or reordered, or names the first that was."""
        return cast("types.LedgerProof", await self._answer("verify_ledger", (), None, None, options))

    async def list_ledger_segments(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.LedgerSegment]:
        """Lists the sealed months of the ledger, oldest first."""
        return cast("List[types.LedgerSegment]", await self._answer("list_ledger_segments", (), None, None, options))

    async def export_ledger_segment(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncDownload:
        """Downloads a sealed month as JSON lines, each with its hash, the signed head last: a file that `npm
        run ledger:verify -- --file` proves by itself. Once it was taken whole, the month may be dropped after
        `WB_LEDGER_KEEP_DAYS`.
        """
        return cast("AsyncDownload", await self._answer("export_ledger_segment", (id,), None, None, options))

    async def me(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Me:
        """Shows who is calling and what the role allows."""
        return cast("types.Me", await self._answer("me", (), None, None, options))

    async def change_password(
        self,
        input: types.PasswordChangeInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Changes the caller’s own password and ends all its other sessions."""
        await self._answer("change_password", (), input, None, options)

    async def people(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Person]:
        """Lists the people who have an account, the oldest first."""
        return cast("List[types.Person]", await self._answer("people", (), None, None, options))

    async def invitations(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Invitation]:
        """Lists the invitations that are still open, the newest first."""
        return cast("List[types.Invitation]", await self._answer("invitations", (), None, None, options))

    async def invite(
        self,
        input: types.InviteInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Invited:
        """Makes a link that lets one person in, once and for a week. The link is shown this once."""
        return cast("types.Invited", await self._answer("invite", (), input, None, options))

    async def withdraw_invitation(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Withdraws an open invitation."""
        await self._answer("withdraw_invitation", (id,), None, None, options)

    async def patch_person(
        self,
        id: str,
        input: Optional[types.PersonPatchInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Person:
        """Changes a person’s name, role or tenants, or disables the account, which ends its sessions."""
        return cast("types.Person", await self._answer("patch_person", (id,), input, None, options))

    async def sessions_of(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Session]:
        """Lists the open sessions of a person, the newest first. `me` is the caller."""
        return cast("List[types.Session]", await self._answer("sessions_of", (id,), None, None, options))

    async def end_session(
        self,
        id: str,
        query: Optional[types.EndSessionQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Ends one session of a person, or all of them. `me` is the caller."""
        await self._answer("end_session", (id,), None, query, options)

    async def list_keys(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Key]:
        """Lists the keys that are not revoked, the newest first."""
        return cast("List[types.Key]", await self._answer("list_keys", (), None, None, options))

    async def create_key(
        self,
        input: types.KeyInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.CreatedKey:
        """Makes a key for a program. It is shown this once; only its digest is kept."""
        return cast("types.CreatedKey", await self._answer("create_key", (), input, None, options))

    async def revoke_key(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Revokes a key, at once and for open streams too."""
        await self._answer("revoke_key", (id,), None, None, options)

    async def list_webhooks(
        self,
        query: Optional[types.WebhooksQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Webhook]:
        """Lists the webhooks, the oldest first."""
        return cast("List[types.Webhook]", await self._answer("list_webhooks", (), None, query, options))

    async def create_webhook(
        self,
        input: types.WebhookInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.WebhookSecret:
        """Sets up a webhook: from now on it is told of ledger lines, signed as Standard Webhooks says, at
        least once each and with the same `webhook-id` at every attempt. `tenant` limits it to the lines of
        one, `types` to some (`instance.*`, `problems` for faults and refusals). https and public addresses
        only, unless the server’s settings allow an origin by name. The secret is shown this once.
        """
        return cast("types.WebhookSecret", await self._answer("create_webhook", (), input, None, options))

    async def get_webhook(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Webhook:
        """Shows a webhook and the health of its receiver."""
        return cast("types.Webhook", await self._answer("get_webhook", (id,), None, None, options))

    async def patch_webhook(
        self,
        id: str,
        input: Optional[types.WebhookPatchInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Webhook:
        """Changes a webhook, or turns it on or off. One that is turned on goes on where it stopped, or with
        `resume_from: now` with what happens from now on. After 24 hours without a success the server turns it
        off.
        """
        return cast("types.Webhook", await self._answer("patch_webhook", (id,), input, None, options))

    async def delete_webhook(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Removes a webhook with its deliveries."""
        await self._answer("delete_webhook", (id,), None, None, options)

    async def rotate_webhook_secret(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.WebhookSecret:
        """Replaces the secret. For 24 hours the previous one signs too. The new one is shown this once."""
        return cast("types.WebhookSecret", await self._answer("rotate_webhook_secret", (id,), None, None, options))

    async def test_webhook(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.WebhookDelivery:
        """Sends `webhook.ping` once and answers how that went, also for a webhook that is off."""
        return cast("types.WebhookDelivery", await self._answer("test_webhook", (id,), None, None, options))

    def list_webhook_deliveries(
        self,
        id: str,
        query: Optional[types.DeliveriesQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.WebhookDelivery]:
        """Lists what is to be delivered and the last that was or failed, newest first."""
        return self._pages("list_webhook_deliveries", (id,), None, query, options)

    async def resend_delivery(
        self,
        id: str,
        delivery: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.WebhookDelivery:
        """Delivers again, with the same `webhook-id`, whatever came of it before."""
        return cast("types.WebhookDelivery", await self._answer("resend_delivery", (id, delivery,), None, None, options))

    async def instance_network(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.InstanceNetwork:
        """Shows what a sandbox may reach on the network, and what it reached in the last seven days, by host."""
        return cast("types.InstanceNetwork", await self._answer("instance_network", (id,), None, None, options))

    async def put_instance_network(
        self,
        id: str,
        input: types.InstanceNetworkInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.InstanceNetwork:
        """Replaces the list of what a sandbox may reach. It reaches what its list and its tenant’s both
        allow; `rules: null` is the tenant’s list alone. `*` and numbers above the server’s are for operators
        and admins.
        """
        return cast("types.InstanceNetwork", await self._answer("put_instance_network", (id,), input, None, options))

    async def tenant_network(
        self,
        tenant: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.TenantNetwork:
        """Shows what the sandboxes of a tenant may reach on the network."""
        return cast("types.TenantNetwork", await self._answer("tenant_network", (tenant,), None, None, options))

    async def put_tenant_network(
        self,
        tenant: str,
        input: types.TenantNetworkInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.TenantNetwork:
        """Replaces the list of what the sandboxes of a tenant may reach: URL prefixes with methods (default:
        GET and HEAD), or `*` for everything public. `private` lets a name have an address that is not public.
        The numbers are of all its sandboxes together.
        """
        return cast("types.TenantNetwork", await self._answer("put_tenant_network", (tenant,), input, None, options))

    async def send_mcp_message(
        self,
        input: types.McpMessageInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.McpMessage:
        """Takes a message of the Model Context Protocol (Streamable HTTP, stateless, revisions 2026-07-28 and
        2025) and answers it, as JSON or as `text/event-stream`. Its tools are the operations of this API, for
        the role and the tenants of the key. Closing the connection, and `notifications/cancelled`, stop what
        a call runs. A page of another origin is refused.
        """
        return cast("types.McpMessage", await self._answer("send_mcp_message", (), input, None, options))

    async def storage(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Storage:
        """Shows the health of the store: the registry, the ledger, the drawers, the disk, the places for
        processes. Takes the same time however much there is.
        """
        return cast("types.Storage", await self._answer("storage", (), None, None, options))

    async def check_storage(
        self,
        input: types.StorageCheckInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Storage:
        """Checks the registry’s structure, or measures what lies in the drawers. Answers after ten seconds at
        the latest; what is still `running` then goes on.
        """
        return cast("types.Storage", await self._answer("check_storage", (), input, None, options))

    def list_backups(
        self,
        query: Optional[types.BackupsQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncPages[types.Backup]:
        """Lists the backups that the server made, makes or failed to make, newest first."""
        return self._pages("list_backups", (), None, query, options)

    async def make_backup(
        self,
        input: Optional[types.MakeBackupInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Backup:
        """Makes a backup now, in the background. Refused while one is under way."""
        return cast("types.Backup", await self._answer("make_backup", (), input, None, options))

    async def get_backup(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Backup:
        """Shows a backup: how far it is, what it would restore, when it was last tried."""
        return cast("types.Backup", await self._answer("get_backup", (id,), None, None, options))

    async def verify_backup(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Backup:
        """Restores one drawn sandbox of it to a folder that is removed again, and compares the hashes."""
        return cast("types.Backup", await self._answer("verify_backup", (id,), None, None, options))

    async def restore_backup(
        self,
        id: str,
        input: Optional[types.RestoreBackupInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.BackupRestore:
        """Brings one sandbox back, as itself or as a new one, while the server runs. With `dry_run` only says
        what it would do, for everything too.
        """
        return cast("types.BackupRestore", await self._answer("restore_backup", (id,), input, None, options))

    async def backup_settings(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.BackupSettings:
        """Shows when and where backups are made, which are kept, and what is wrong with them."""
        return cast("types.BackupSettings", await self._answer("backup_settings", (), None, None, options))

    async def put_backup_settings(
        self,
        input: Optional[types.PutBackupSettingsInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.BackupSettings:
        """Changes when and where backups are made, and which are kept. A place is tried before it is taken."""
        return cast("types.BackupSettings", await self._answer("put_backup_settings", (), input, None, options))

    async def attention(
        self,
        query: Optional[types.AttentionQuery] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Attention]:
        """Lists what is wrong or comes near a wall, as far as the caller may see it, with what is
        acknowledged.
        """
        return cast("List[types.Attention]", await self._answer("attention", (), None, query, options))

    async def acknowledge(
        self,
        id: str,
        input: Optional[types.AcknowledgeInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Attention:
        """Acknowledges it for everybody, until a time or until it ends. What begins anew is told of again."""
        return cast("types.Attention", await self._answer("acknowledge", (id,), input, None, options))

    async def unacknowledge(
        self,
        id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Takes an acknowledgement back."""
        await self._answer("unacknowledge", (id,), None, None, options)

    async def list_hosts(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> List[types.Host]:
        """Lists the servers of the registry: what each says of itself, and its lease."""
        return cast("List[types.Host]", await self._answer("list_hosts", (), None, None, options))

    async def get_host(
        self,
        name: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Host:
        """Shows one server of the registry."""
        return cast("types.Host", await self._answer("get_host", (name,), None, None, options))

    async def patch_host(
        self,
        name: str,
        input: types.PatchHostInput,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Host:
        """Sets the labels of a server, in the place of those that it has."""
        return cast("types.Host", await self._answer("patch_host", (name,), input, None, options))

    async def drain_host(
        self,
        name: str,
        input: Optional[types.DrainHostInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Host:
        """Empties a server, for an upgrade or a repair: it takes nothing new, and a job of its own suspends,
        files and stores what it has, so that others wake it. What stays is in the results of that job, each
        with the reason. It stays so, over its next starts too, until it is taken back; once the job has
        ended, the same call begins another one for what is left.
        """
        return cast("types.Host", await self._answer("drain_host", (name,), input, None, options))

    async def stop_draining(
        self,
        name: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Host:
        """Has a server take what is new again. It keeps what it has, and nothing comes back to it by itself."""
        return cast("types.Host", await self._answer("stop_draining", (name,), None, None, options))

    async def get_settings(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Settings:
        """Shows the global thresholds of the ladder."""
        return cast("types.Settings", await self._answer("get_settings", (), None, None, options))

    async def patch_settings(
        self,
        input: Optional[types.SettingsPatchInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Settings:
        """Changes the global thresholds of the ladder."""
        return cast("types.Settings", await self._answer("patch_settings", (), input, None, options))

    async def health(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Health:
        """Answers while the process lives."""
        return cast("types.Health", await self._answer("health", (), None, None, options))

    async def readiness(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> types.Readiness:
        """Answers `ok` when the registry, the pool and the data folder can do their work, and `503` until
        then; `degraded` while the object store is away.
        """
        return cast("types.Readiness", await self._answer("readiness", (), None, None, options))

    async def metrics(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> str:
        """Shows the metrics in the Prometheus text format."""
        return cast("str", await self._answer("metrics", (), None, None, options))

    async def openapi(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> Any:
        """Shows this document (OpenAPI 3.1)."""
        return cast("Any", await self._answer("openapi", (), None, None, options))
