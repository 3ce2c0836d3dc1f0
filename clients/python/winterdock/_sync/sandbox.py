"""Printed by `npm run client:calls`. Not to be written by hand.

The sandbox object, over the client."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Type, TypeVar, Union

from .. import types
from .._call import CallOptions
from .._errors import ApiError
from .._results import given
from .client import Client
from .commands import SandboxCommands
from .creation import create_once, tenant_of
from .files import SandboxFiles
from .pages import Pages
from .runs import SandboxRuns

Policy = Literal["posix", "minimal", "compute", "network", "native"]
#: Why a sandbox cannot be suspended that need not be: never started, archived, deleted, in memory, or in use by others.
NOT_TO_SUSPEND = ("invalid_transition", "archived", "gone", "conflict")

Self = TypeVar("Self", bound="Sandbox")


class Sandbox:
    """One sandbox. `create`, `connect`, `from_snapshot` and `from_blueprint` make it.

    Leaving its `with` suspends it: its process ends, its files stay, and its next command wakes it.
    """

    def __init__(self, client: Client, id: str) -> None:
        self.id = id
        #: The client that it uses, for everything else that the server does.
        self.client = client
        self.runs = SandboxRuns(client, id)
        self.commands = SandboxCommands(client, id, self.runs)
        self.files = SandboxFiles(client, id)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            self.suspend()
        except ApiError as error:
            # What is raised within the block says more than that it could not be left tidily.
            if kind is None and error.code not in NOT_TO_SUSPEND:
                raise
        finally:
            self.close()

    def close(self) -> None:
        """Closes connections that nothing uses. The sandbox stays as it is, and can be used again."""
        self.client.close()

    @classmethod
    def create(
        cls: Type[Self],
        id: Optional[str] = None,
        *,
        tenant: Optional[str] = None,
        name: Optional[str] = None,
        labels: Optional[Dict[str, str]] = None,
        policy: Optional[Policy] = None,
        workbook: Optional[str] = None,
        ephemeral: Optional[bool] = None,
        keep_hot: Optional[bool] = None,
        hot_to_warm_s: Optional[int] = None,
        idle_to_suspend_s: Optional[int] = None,
        idle_to_freeze_s: Optional[int] = None,
        replicate: Optional[str] = None,
        vfs_path: Optional[Literal[":memory:"]] = None,
        client: Optional[Client] = None,
        options: Optional[CallOptions] = None,
    ) -> Self:
        """Makes a sandbox. It starts with its first command. The tenant may be left out when the key is of one.

        With an `id` doing it again gives the same sandbox, and `conflict` when that is of another tenant, policy or
        workbook; a lost answer never makes two. Without `client` one is made of the environment.
        """
        used = client or Client()
        body = given(
            id=id,
            tenant=tenant or tenant_of(used, options),
            name=name,
            labels=labels,
            policy=policy,
            workbook=workbook,
            ephemeral=ephemeral,
            keep_hot=keep_hot,
            hot_to_warm_s=hot_to_warm_s,
            idle_to_suspend_s=idle_to_suspend_s,
            idle_to_freeze_s=idle_to_freeze_s,
            replicate=replicate,
            vfs_path=vfs_path,
        )
        return cls(used, (create_once(used, body, options))["id"])

    @classmethod
    def connect(
        cls: Type[Self],
        id: str,
        *,
        client: Optional[Client] = None,
        options: Optional[CallOptions] = None,
    ) -> Self:
        """A sandbox that is there already. Wakes nothing. Raises `not_found`, or `gone` when it was deleted."""
        used = client or Client()
        return cls(used, (used.get_instance(id, options=options))["id"])

    @classmethod
    def from_snapshot(
        cls: Type[Self],
        snapshot: str,
        *,
        tenant: Optional[str] = None,
        name: Optional[str] = None,
        policy: Optional[Policy] = None,
        start: Optional[bool] = None,
        client: Optional[Client] = None,
        options: Optional[CallOptions] = None,
    ) -> Self:
        """A new sandbox with what a snapshot holds."""
        used = client or Client()
        body: Any = given(tenant=tenant, name=name, policy=policy, start=start)
        return cls(used, _only_of(used.restore_snapshot(snapshot, body, options=options)))

    @classmethod
    def from_blueprint(
        cls: Type[Self],
        blueprint: str,
        *,
        tenant: Optional[str] = None,
        name: Optional[str] = None,
        start: Optional[bool] = None,
        client: Optional[Client] = None,
        options: Optional[CallOptions] = None,
    ) -> Self:
        """A new sandbox with what a blueprint holds."""
        used = client or Client()
        body: Any = given(tenant=tenant or tenant_of(used, options), name=name, start=start)
        return cls(used, _only_of(used.clone_blueprint(blueprint, body, options=options)))

    @classmethod
    def list(
        cls,
        query: Optional[types.ListQuery] = None,
        *,
        client: Optional[Client] = None,
        options: Optional[CallOptions] = None,
    ) -> Pages[types.Instance]:
        """The sandboxes that the key sees: a page, or all when iterated. Wakes nothing."""
        return (client or Client()).list_instances(query, options=options)

    def info(self, *, options: Optional[CallOptions] = None) -> types.Instance:
        """How it stands: its state, what comes next and when. Wakes nothing."""
        return self.client.get_instance(self.id, options=options)

    def suspend(
        self,
        *,
        reason: Optional[str] = None,
        force: Optional[bool] = None,
        options: Optional[CallOptions] = None,
    ) -> types.Instance:
        """Ends its process and keeps its files. The next command or write wakes it."""
        body: Any = given(reason=reason, force=force)
        return self.client.suspend_instance(self.id, body, options=options)

    def resume(
        self,
        *,
        reason: Optional[str] = None,
        force: Optional[bool] = None,
        policy: Optional[Policy] = None,
        options: Optional[CallOptions] = None,
    ) -> types.ResumeAnswer:
        """Wakes it, from wherever it is filed. Commands and writes do that by themselves, but for an archived one."""
        body: Any = given(reason=reason, force=force, policy=policy)
        return self.client.resume_instance(self.id, body, options=options)

    def snapshot(
        self, *, tag: Optional[str] = None, options: Optional[CallOptions] = None
    ) -> types.Snapshot:
        """Keeps what it holds now, its `/tmp` aside: `from_snapshot` makes new ones of it."""
        body: Any = given(tag=tag)
        return self.client.take_snapshot(self.id, body, options=options)

    def checkpoint(
        self,
        name: str,
        *,
        time: Optional[float] = None,
        reason: Optional[str] = None,
        options: Optional[CallOptions] = None,
    ) -> types.Moment:
        """Keeps what it has now, or had at `time` (seconds since the epoch), under a name, until that is removed."""
        body: Any = given(time=time, reason=reason)
        return self.client.name_moment(self.id, name, body, options=options)

    def restore(
        self, to: Union[str, float], *, reason: Optional[str] = None, options: Optional[CallOptions] = None
    ) -> types.RestoredMoment:
        """Puts it back to a checkpoint, or to a time in seconds since the epoch. Its process ends first.

        What it had is kept, and `undo` brings it back.
        """
        self._put_to_sleep(options)
        which = {"moment": to} if isinstance(to, str) else {"time": to}
        body: Any = given(reason=reason, **which)
        restored: Any = self.client.restore_instance(self.id, body, options=options)
        return restored

    def undo(
        self, *, reason: Optional[str] = None, options: Optional[CallOptions] = None
    ) -> types.RestoredMoment:
        """Brings back what the last `restore` replaced; once more, what the one before replaced."""
        self._put_to_sleep(options)
        body: Any = given(reason=reason)
        return self.client.undo_restore(self.id, body, options=options)

    def _put_to_sleep(self, options: Optional[CallOptions]) -> None:
        info = self.client.get_instance(self.id, options=options)
        if info["state"] == "active":
            self.client.suspend_instance(self.id, {}, options=options)

    def delete(self, *, reason: Optional[str] = None, options: Optional[CallOptions] = None) -> None:
        """Deletes it with its files, from any state, hop by hop. Its id is never used again."""
        body: Any = given(to="deleted", reason=reason)
        try:
            self.client.walk_plan(self.id, body, options=options)
        except ApiError as error:
            if error.code != "gone":
                raise


def _only_of(made: List[types.Instance]) -> str:
    if len(made) != 1:
        raise ApiError("unexpected", "The server made no sandbox.")
    return made[0]["id"]
