"""Printed by `npm run client:calls`. Not to be written by hand.

Makes a sandbox so that doing it twice makes one."""

from __future__ import annotations

import secrets
from typing import Any, Dict, Optional

from .. import types
from .._call import NO_OPTIONS, CallOptions, backoff
from .._errors import ApiError
from .client import Client
from .transport import RETRIES
from .wire import sleep

#: Without look-alikes, as the server makes ids.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
#: What another caller may have chosen otherwise, and what matters. Names and labels may have been changed since.
FIXED = ("tenant", "policy", "workbook", "ephemeral")


def new_sandbox_id() -> str:
    """An id that nobody else makes up."""
    return "sb-" + "".join(secrets.choice(ALPHABET) for _ in range(10))


def tenant_of(client: Client, options: Optional[CallOptions]) -> str:
    """The tenant of the client's key. Raises `validation` when it is not one."""
    tenants = (client.me(options=options))["tenants"]
    if tenants is not None and len(tenants) == 1:
        return tenants[0]
    raise ApiError(
        "validation",
        "The key is not one tenant's: say whose sandbox it is to be.",
        hint="Sandbox.create(tenant='acme'), or a key of a tenant: "
        "winterdock keys create NAME --role tenant --tenant acme",
    )


def create_once(
    client: Client, wanted: Dict[str, Any], options: Optional[CallOptions]
) -> types.Instance:
    """Makes an instance of this id, or gives the one that is there when it is of the same tenant, policy and workbook.

    Else raises `conflict`. With an id made up before, a lost answer is asked for again.
    """
    body: Any = {"id": new_sandbox_id(), **wanted}
    retries = (options or NO_OPTIONS).retries
    attempt = 1
    while True:
        try:
            return client.create_instance(body, options=options)
        except ApiError as error:
            if error.code == "conflict":
                return _existing(client, body, error, options)
            if error.code != "network" or attempt > (RETRIES if retries is None else retries):
                raise
        sleep(backoff(attempt))
        attempt += 1


def _existing(
    client: Client, wanted: Dict[str, Any], refused: ApiError, options: Optional[CallOptions]
) -> types.Instance:
    try:
        found = client.get_instance(wanted["id"], options=options)
    except ApiError as error:
        # Another tenant's, or deleted: its id is not given again. The refusal says so.
        if error.code in ("not_found", "gone"):
            raise refused from None
        raise
    have: Any = found
    for name in FIXED:
        if name in wanted and wanted[name] != have[name]:
            raise ApiError(
                "conflict",
                f'"{wanted["id"]}" is there already, and its {name} is {have[name]}.',
                status=refused.status,
                hint="Sandbox.connect takes it as it is.",
                request_id=refused.request_id,
            ) from refused
    return found
