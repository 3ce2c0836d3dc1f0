"""What the calls take and answer. Printed by `npm run client:calls`. Not to be written by hand."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


class AcknowledgeInput(TypedDict, total=False):
    #: Left out or null: until it ends.
    until: Optional[int]
    reason: str


class Attachment(TypedDict):
    attachment: str
    lease_s: int


class AttentionAcknowledged(TypedDict):
    actor: str
    #: The name of the person or key; null for one without a name, or that is gone.
    actor_name: Optional[str]
    at: int
    #: Null: until what it is of ends.
    until: Optional[int]
    reason: Optional[str]


class Attention(TypedDict):
    #: Another one when it is another trouble.
    id: str
    kind: Literal["fault", "stuck", "backup", "replica", "disk", "quota", "webhook", "schedule"]
    #: `warning`: nothing is wrong yet.
    level: Literal["wrong", "warning"]
    #: Null: it is about the whole server.
    tenant: Optional[str]
    instance: Optional[str]
    name: str
    says: str
    #: Where the console shows it: a path.
    page: str
    #: Null: nobody noted it.
    since: Optional[int]
    #: How many things it stands for.
    count: int
    acknowledged: Optional[AttentionAcknowledged]


class AttentionQuery(TypedDict, total=False):
    tenant: str


class BackupProgress(TypedDict):
    done: int
    all: int


class BackupVerified(TypedDict):
    time: int
    took_ms: Optional[int]
    error: Optional[str]


class Backup(TypedDict):
    id: str
    state: Literal["asked", "running", "made", "failed", "removed"]
    target: str
    planned: Optional[int]
    actor: str
    #: The name of the person or key; null for one without a name, or that is gone.
    actor_name: Optional[str]
    reason: Optional[str]
    asked: int
    begun: Optional[int]
    ended: Optional[int]
    took_ms: Optional[int]
    progress: Optional[BackupProgress]
    sandboxes: Optional[int]
    bytes: Optional[int]
    added_objects: Optional[int]
    added_bytes: Optional[int]
    wrong: Optional[int]
    keys: bool
    error: Optional[str]
    verified: Optional[BackupVerified]


class BackupRestoreHolds(TypedDict):
    states: Dict[str, int]
    copies: int
    bytes: int
    memory: int
    missing: int
    unsound: int
    keys: bool


BackupRestoreOne = TypedDict(
    "BackupRestoreOne",
    {
        "instance": "str",
        "as": "str",
        "tenant": "str",
        "bytes": "int",
        "was": "str",
        "now": "Optional[str]",
        "refusal": "Optional[str]",
        "wrong": "Optional[str]",
    },
)


class BackupRestore(TypedDict):
    backup: str
    time: int
    dry_run: bool
    holds: BackupRestoreHolds
    one: Optional[BackupRestoreOne]
    command: str


class BackupSettingsKeep(TypedDict):
    hourly: int
    daily: int
    weekly: int
    monthly: int


class BackupSettingsFault(TypedDict):
    kind: Literal["failed", "overdue", "trial"]
    since: int
    reason: str


class BackupSettings(TypedDict):
    enabled: bool
    target: Optional[str]
    cron: str
    timezone: str
    keep: BackupSettingsKeep
    with_keys: bool
    trial_cron: Optional[str]
    has_passphrase: bool
    next: Optional[int]
    last: Optional[int]
    fault: Optional[BackupSettingsFault]


class BackupsQuery(TypedDict, total=False):
    state: Literal["asked", "running", "made", "failed", "removed"]
    limit: int
    cursor: str


class BlueprintContentsItem(TypedDict):
    volume: Literal["workspace", "memory", "tmp"]
    files: int
    bytes: int


class Blueprint(TypedDict):
    name: str
    tenant: Optional[str]
    source: Optional[str]
    replicate: Optional[str]
    hash: str
    bytes: int
    volumes: List[Literal["workspace", "memory", "tmp"]]
    contents: List[BlueprintContentsItem]
    created: int
    actor: str
    #: The name of the person or key; null for one without a name, or that is gone.
    actor_name: Optional[str]
    instances: int


class BlueprintsQuery(TypedDict, total=False):
    limit: int
    cursor: str


class BundleOrigin(TypedDict):
    signed: bool
    issuer: Optional[str]
    notes: List[str]


class CheckoutQuery(TypedDict, total=False):
    format: Literal["tar.gz"]


class _CloneInputRequired(TypedDict):
    tenant: str


class CloneInput(_CloneInputRequired, total=False):
    count: int
    name: str
    start: bool


class CompareQuery(TypedDict, total=False):
    snapshot: str
    #: The newest moment of the replica up to then, in seconds since the epoch
    since: float
    limit: int
    #: As of the newest moment of the replica up to then, in seconds since the epoch; a whole number
    #: means the end of that second
    at: float


class Comparison(TypedDict):
    snapshot: Optional[str]
    #: Of the moment that was compared with, in seconds since the epoch with fractions
    since: Optional[float]
    volume: Literal["workspace", "memory", "tmp"]
    added: int
    removed: int
    changed: int
    same: int
    changes: List[FileChange]


class Completion(TypedDict):
    begin: str
    quote: Optional[Literal["\"", "'"]]
    names: List[str]
    truncated: bool


class _CompletionQueryRequired(TypedDict):
    #: What stands before the cursor.
    line: str


class CompletionQuery(_CompletionQueryRequired, total=False):
    cwd: str


class _ComponentCallAnswerLogsItemRequired(TypedDict):
    stream: Literal["stdout", "stderr", "log"]
    text: str


class ComponentCallAnswerLogsItem(_ComponentCallAnswerLogsItemRequired, total=False):
    component: str


class _ComponentCallAnswerErrorRequired(TypedDict):
    message: str
    kind: Literal[
        "input",
        "output",
        "capability",
        "component",
        "timeout",
        "memory",
        "state",
        "dependency",
    ]


class ComponentCallAnswerError(_ComponentCallAnswerErrorRequired, total=False):
    component: str


class _ComponentCallAnswerRequired(TypedDict):
    logs: List[ComponentCallAnswerLogsItem]
    timed_out: bool
    took_ms: float
    woke: Literal["hot", "warm", "cold"]


class ComponentCallAnswer(_ComponentCallAnswerRequired, total=False):
    output: Any
    error: ComponentCallAnswerError


class ComponentCallInput(TypedDict, total=False):
    #: The inputs by their names.
    input: Dict[str, Any]
    #: Milliseconds of the whole call; more than `WB_MAX_CALL_MS` is refused. One component has no
    #: more of it than an `exec` may ask for.
    timeout_ms: int


class ComponentPort(TypedDict):
    name: str
    type: str
    optional: bool


class _CreateBlueprintInputRequired(TypedDict):
    name: str
    from_instance: str


class CreateBlueprintInput(_CreateBlueprintInputRequired, total=False):
    replicate: str


class CreateBlueprintQuery(TypedDict, total=False):
    name: str
    replicate: str


class _CreateInputRequired(TypedDict):
    tenant: str


class CreateInput(_CreateInputRequired, total=False):
    id: str
    name: str
    #: It is never suspended or frozen: once idle for its time it is archived and deleted.
    ephemeral: bool
    policy: Literal["posix", "minimal", "compute", "network", "native"]
    keep_hot: bool
    #: Idle seconds after which its process is paused in memory (`warm`), until the next request; 0:
    #: never. Changes no state.
    hot_to_warm_s: int
    idle_to_suspend_s: int
    #: Another name of `idle_to_suspend_s`: idle seconds until it is suspended, or, ephemeral,
    #: archived and deleted. Both are taken when they say the same.
    timeout_secs: int
    idle_to_freeze_s: int
    replicate: str
    labels: Dict[str, str]
    workbook: str
    vfs_path: Literal[":memory:"]


class CreateScheduleInput(TypedDict, total=False):
    cron: str
    timezone: str
    command: str
    component: str
    input: Dict[str, Any]
    timeout_ms: Optional[int]
    missed: Literal["skip", "once", "all"]
    at: int
    repeat: str
    paused: bool


class CreatedKey(TypedDict):
    id: str
    name: str
    role: Literal["admin", "operator", "support", "viewer", "tenant"]
    tenant: Optional[str]
    prefix: str
    created: int
    created_by: str
    #: The name of the person or key; null for one without a name, or that is gone.
    created_by_name: Optional[str]
    expires: Optional[int]
    max_call_s: Optional[int]
    last_used: Optional[int]
    key: str


class Database(TypedDict):
    tables: List[DatabaseTable]
    total: int
    #: In WAL mode: rows still in its log are in another file, and not shown
    wal: bool
    #: The `cursor` of the next page
    next: Optional[str]


class _DatabaseQueryRequired(TypedDict):
    path: str


class DatabaseQuery(_DatabaseQueryRequired, total=False):
    limit: int
    cursor: str
    #: As of the newest moment of the replica up to then, in seconds since the epoch; a whole number
    #: means the end of that second
    at: float


class DatabaseRowsColumnsItem(TypedDict):
    name: str
    type: str


class DatabaseRowsRowsItemItem4(TypedDict):
    text: str
    bytes: int


class DatabaseRowsRowsItemItem5(TypedDict):
    hex: str
    bytes: int


class DatabaseRows(TypedDict):
    name: str
    #: A virtual table is listed and never opened
    kind: Literal["table", "view", "virtual"]
    #: The first 100; in a list none of a view
    columns: List[DatabaseRowsColumnsItem]
    column_count: int
    #: Counted to 10 000; null for a view, and for what is not opened
    row_count: Optional[int]
    #: There are more than `row_count`
    more_rows: bool
    #: Why it cannot be opened
    problem: Optional[str]
    #: In WAL mode: rows still in its log are in another file, and not shown
    wal: bool
    #: How many rows come before these
    offset: int
    rows: List[
        List[Optional[Union[float, str, DatabaseRowsRowsItemItem4, DatabaseRowsRowsItemItem5]]],
    ]
    #: The `cursor` of the next page
    next: Optional[str]


class _DatabaseRowsQueryRequired(TypedDict):
    path: str
    table: str


class DatabaseRowsQuery(_DatabaseRowsQueryRequired, total=False):
    limit: int
    cursor: str
    #: As of the newest moment of the replica up to then, in seconds since the epoch; a whole number
    #: means the end of that second
    at: float


class DatabaseTableColumnsItem(TypedDict):
    name: str
    type: str


class DatabaseTable(TypedDict):
    name: str
    #: A virtual table is listed and never opened
    kind: Literal["table", "view", "virtual"]
    #: The first 100; in a list none of a view
    columns: List[DatabaseTableColumnsItem]
    column_count: int
    #: Counted to 10 000; null for a view, and for what is not opened
    row_count: Optional[int]
    #: There are more than `row_count`
    more_rows: bool
    #: Why it cannot be opened
    problem: Optional[str]


class _DeleteFolderQueryRequired(TypedDict):
    path: str


class DeleteFolderQuery(_DeleteFolderQueryRequired, total=False):
    recursive: Literal["true", "false"]


class DeleteInput(TypedDict, total=False):
    reason: str


class DeliveriesQuery(TypedDict, total=False):
    state: Literal["pending", "delivered", "failed"]
    limit: int
    cursor: str


class DrainHostInput(TypedDict, total=False):
    reason: str
    #: Also what is kept hot, held or shown in a terminal; without it that stays
    include_held: bool


class DryRunHeldItem(TypedDict):
    hold: Literal["kept_hot", "held", "attached"]
    words: str
    count: int


class DryRunSkipItem(TypedDict):
    reason: str
    count: int


DryRunPlansItem = TypedDict(
    "DryRunPlansItem",
    {
        "from": "Literal['created', 'active', 'suspended', 'frozen', 'archived', 'deleted']",
        "hops": "List[Literal['created', 'active', 'suspended', 'frozen', 'archived', 'deleted']]",
        "count": "int",
    },
)


class DryRunLossesItem(TypedDict):
    loss: Literal["process", "tmp", "everything"]
    words: str
    count: int


class DryRunRowsItem(TypedDict):
    id: str
    tenant: Optional[str]
    name: Optional[str]
    state: Optional[Literal["created", "active", "suspended", "frozen", "archived", "deleted"]]
    outcome: Literal["will", "held", "skip"]
    hops: List[Literal["created", "active", "suspended", "frozen", "archived", "deleted"]]
    hold: Optional[Literal["kept_hot", "held", "attached"]]
    reason: Optional[str]


class DryRun(TypedDict):
    matched: int
    will: int
    held: List[DryRunHeldItem]
    skip: List[DryRunSkipItem]
    plans: List[DryRunPlansItem]
    losses: List[DryRunLossesItem]
    rows: List[DryRunRowsItem]


class EndSessionQuery(TypedDict, total=False):
    session: str


class EnvPatchInput(TypedDict):
    env: Dict[str, Optional[str]]


class _EvalAnswerRequired(TypedDict):
    ok: bool
    stdout: str
    stderr: str
    timed_out: bool
    took_ms: float
    woke: Literal["hot", "warm", "cold"]


class EvalAnswer(_EvalAnswerRequired, total=False):
    value: Any
    #: There when `stdout` is in base64: it was asked for, or it is no UTF-8. Without it `stdout` is
    #: text.
    stdout_encoding: Literal["base64"]
    #: As `stdout_encoding`, of `stderr`.
    stderr_encoding: Literal["base64"]
    error: str


class _EvalInputRequired(TypedDict):
    language: Literal["js", "python"]
    code: str


class EvalInput(_EvalInputRequired, total=False):
    encoding: Literal["base64"]
    #: Milliseconds from its turn on. Default: 60 000, with the policies `compute` and `minimal` 5
    #: 000. More is refused than `WB_MAX_CALL_MS` and the policy (60 000 with those two) allow, in
    #: whose place `max_call_s` of the tenant or of the key may stand.
    timeout_ms: int


Event = TypedDict(
    "Event",
    {
        "seq": "int",
        "time": "int",
        "time_ms": "int",
        "instance": "Optional[str]",
        "tenant": "Optional[str]",
        "type": "str",
        "from": "Optional[Literal['created', 'active', 'suspended', 'frozen', 'archived', 'deleted']]",
        "to": "Optional[Literal['created', 'active', 'suspended', 'frozen', 'archived', 'deleted']]",
        "trigger": "Literal['request', 'idle', 'schedule', 'operator', 'plan', 'crash', 'timeout', 'reconcile', 'quota', 'memory', 'pressure', 'boot', 'stop']",
        "actor": "str",
    #: The name of the person or key; null for one without a name, or that is gone.
        "actor_name": "Optional[str]",
        "via": "Literal['api', 'console', 'cli', 'mcp', 'ticker', 'schedule', 'system']",
        "source": "Optional[Literal['local', 'cold', 'archive', 'cloud', 'snapshot', 'blueprint', 'fresh']]",
        "took_ms": "Optional[float]",
        "reason": "Optional[str]",
        "error": "Optional[str]",
        "request_id": "Optional[str]",
        "address": "Optional[str]",
    },
)


class EventsQuery(TypedDict, total=False):
    tenant: str
    instance: str
    type: str
    actor: str
    trigger: Literal[
        "request",
        "idle",
        "schedule",
        "operator",
        "plan",
        "crash",
        "timeout",
        "reconcile",
        "quota",
        "memory",
        "pressure",
        "boot",
        "stop",
    ]
    #: Lines of this request. What a job did has the id of the job.
    request_id: str
    since: int
    until: int
    limit: int
    cursor: str


class _ExecAnswerRequired(TypedDict):
    exit_code: int
    stdout: str
    stderr: str
    cwd: str
    timed_out: bool
    truncated: bool
    took_ms: float
    woke: Literal["hot", "warm", "cold"]


class ExecAnswer(_ExecAnswerRequired, total=False):
    #: There when `stdout` is in base64: it was asked for, or it is no UTF-8. Without it `stdout` is
    #: text.
    stdout_encoding: Literal["base64"]
    #: As `stdout_encoding`, of `stderr`.
    stderr_encoding: Literal["base64"]


class _ExecInputRequired(TypedDict):
    command: str


class ExecInput(_ExecInputRequired, total=False):
    cwd: str
    env: Dict[str, str]
    #: Text for its stdin, in UTF-8.
    stdin: str
    #: Any bytes for its stdin, at most 16777216. Instead of `stdin`.
    stdin_base64: str
    encoding: Literal["base64"]
    #: Milliseconds from its turn on. Default: 60 000, with the policies `compute` and `minimal` 5
    #: 000. More is refused than `WB_MAX_CALL_MS` and the policy (60 000 with those two) allow, in
    #: whose place `max_call_s` of the tenant or of the key may stand.
    timeout_ms: int


class _ExportQueryRequired(TypedDict):
    format: Literal["csv", "jsonl"]


class ExportQuery(_ExportQueryRequired, total=False):
    tenant: str
    instance: str
    type: str
    actor: str
    trigger: Literal[
        "request",
        "idle",
        "schedule",
        "operator",
        "plan",
        "crash",
        "timeout",
        "reconcile",
        "quota",
        "memory",
        "pressure",
        "boot",
        "stop",
    ]
    #: Lines of this request. What a job did has the id of the job.
    request_id: str
    since: int
    until: int


class FileChangeBefore(TypedDict):
    size: int
    mtime: int
    sha256: str


class FileChangeNow(TypedDict):
    size: int
    mtime: int
    sha256: str


class FileChange(TypedDict):
    path: str
    change: Literal["added", "removed", "changed"]
    before: Optional[FileChangeBefore]
    now: Optional[FileChangeNow]


class FileInfo(TypedDict):
    path: str
    size: int
    mtime: int


class FilesQuery(TypedDict, total=False):
    prefix: str
    limit: int
    cursor: str
    #: As of the newest moment of the replica up to then, in seconds since the epoch; a whole number
    #: means the end of that second
    at: float


class FolderItem(TypedDict):
    name: str
    kind: Literal["file", "dir", "link"]
    size: int
    mtime: int


class FolderQuery(TypedDict, total=False):
    path: str
    limit: int
    cursor: str
    #: As of the newest moment of the replica up to then, in seconds since the epoch; a whole number
    #: means the end of that second
    at: float


class ForgetTenantInput(TypedDict, total=False):
    confirm: str
    dry_run: bool


class ForgettingStartedBackupsItem(TypedDict):
    id: Optional[str]
    time: int
    to: Optional[str]
    gone_by: Optional[int]


class ForgettingStartedStore(TypedDict):
    objects: int
    remain_until: Optional[int]


class ForgettingStarted(TypedDict):
    id: str
    backups: List[ForgettingStartedBackupsItem]
    set_aside: List[str]
    store: ForgettingStartedStore
    registry_moments_end: bool


class FromMomentInput(TypedDict, total=False):
    time: float
    moment: str
    name: str
    tenant: str
    reason: str


class Health(TypedDict):
    status: Literal["ok"]


class HostCapacity(TypedDict):
    active: int
    memory_bytes: Optional[int]


class HostDrain(TypedDict):
    #: The job that does it; its results say what stays, and why
    job: str
    state: Literal["waiting", "running", "done", "cancelled"]
    asked: int
    reason: Optional[str]
    include_held: bool
    chosen: int
    #: Those that are nobody’s now, or another host’s
    done: int
    failed: int
    skipped: int


class Host(TypedDict):
    name: str
    self: bool
    term: int
    since: int
    #: Where other hosts reach it
    url: Optional[str]
    version: Optional[str]
    #: How many sandboxes may be awake at a time, and the memory of their processes
    capacity: Optional[HostCapacity]
    labels: Dict[str, str]
    #: Those that it has awake or on its disk; 10001: more than 10 000
    sandboxes: int
    #: Those of them that are active; 10001: more than 10 000
    awake: int
    #: It is being emptied, or was: it takes nothing new
    draining: bool
    #: Null unless it is draining; `waiting`: the host has not begun
    drain: Optional[HostDrain]
    #: A server holds the name, or has ended without handing it back
    held: bool
    #: It was not seen to renew its lease for as long as that lasts: what is on its disk cannot be
    #: reached
    dead: bool
    #: Length of its lease; null: it has none, because nobody else reaches the registry
    lease_ms: Optional[int]
    #: How often its lease was renewed in all
    renewals: int
    #: Of the last renewal, by its own clock
    renewed: Optional[int]
    #: Of its data folder, as a did:key
    public_key: Optional[str]


class _ImportQueryRequired(TypedDict):
    tenant: str


class ImportQuery(_ImportQueryRequired, total=False):
    id: str
    name: str
    #: true: what has no valid signature is refused, whatever the server takes.
    require_signed: Literal["true", "false"]


class ImportedNext(TypedDict):
    state: Literal["created", "active", "suspended", "frozen", "archived", "deleted"]
    at: int
    because: str


ImportedRecoveryPoint = TypedDict(
    "ImportedRecoveryPoint",
    {
        "at": "Optional[int]",
        "behind_s": "Optional[float]",
        "as": "Literal['live', 'filed', 'none']",
    },
)


class ImportedLineage(TypedDict):
    blueprint: Optional[str]
    snapshot: Optional[str]
    parent: Optional[str]


class ImportedStored(TypedDict):
    address: str
    generation: int
    sha256: str
    bytes: int
    at: int


class ImportedUnreachable(TypedDict):
    #: When that host renewed its lease last
    last_seen: Optional[int]
    #: How far the object store has the sandbox; null: it has nothing of it
    recovery_point: Optional[int]
    #: What a wake or a call has elsewhere: all that was answered, or what the replica has; null:
    #: none
    goes_on: Optional[Literal["whole", "seconds"]]


class Imported(TypedDict):
    id: str
    tenant: str
    name: Optional[str]
    state: Literal["created", "active", "suspended", "frozen", "archived", "deleted"]
    thermal: Literal["hot", "warm", "cold"]
    warm_since: Optional[int]
    fault: Optional[Literal["error", "unknown", "corrupt", "missing"]]
    fault_reason: Optional[str]
    pending: Optional[str]
    pending_since: Optional[int]
    interrupted: bool
    vfs_path: Optional[str]
    updated: int
    created: int
    state_since: int
    idle_seconds: int
    next: Optional[ImportedNext]
    keep_hot: bool
    hold_until: Optional[int]
    ephemeral: bool
    policy: str
    hot_to_warm_s: Optional[int]
    idle_to_suspend_s: Optional[int]
    idle_to_freeze_s: Optional[int]
    own_replicate: Optional[str]
    replicate: str
    replicate_from_next_wake: bool
    recovery_point: ImportedRecoveryPoint
    attached: int
    calls: int
    bytes: Optional[int]
    labels: Dict[str, str]
    workbook: Optional[str]
    workbook_version: Optional[int]
    lineage: ImportedLineage
    stored: Optional[ImportedStored]
    upload: Literal["none", "queued", "running"]
    host: Optional[str]
    term: Optional[int]
    #: Not null while `host` does not answer: the state is the one that the sandbox had there, and
    #: only that host has what is newest
    unreachable: Optional[ImportedUnreachable]
    imported: BundleOrigin


class InspectionShare(TypedDict):
    id: Optional[str]
    verdict: Literal["unaltered", "altered", "unknown"]
    altered: List[str]
    says: str


class _InspectionRequired(TypedDict):
    manifest: Optional[Dict[str, Any]]
    verified: bool
    signed: bool
    importable: bool
    problems: List[str]


class Inspection(_InspectionRequired, total=False):
    issuer: str
    share: InspectionShare


class InstanceNext(TypedDict):
    state: Literal["created", "active", "suspended", "frozen", "archived", "deleted"]
    at: int
    because: str


InstanceRecoveryPoint = TypedDict(
    "InstanceRecoveryPoint",
    {
        "at": "Optional[int]",
        "behind_s": "Optional[float]",
        "as": "Literal['live', 'filed', 'none']",
    },
)


class InstanceLineage(TypedDict):
    blueprint: Optional[str]
    snapshot: Optional[str]
    parent: Optional[str]


class InstanceStored(TypedDict):
    address: str
    generation: int
    sha256: str
    bytes: int
    at: int


class InstanceUnreachable(TypedDict):
    #: When that host renewed its lease last
    last_seen: Optional[int]
    #: How far the object store has the sandbox; null: it has nothing of it
    recovery_point: Optional[int]
    #: What a wake or a call has elsewhere: all that was answered, or what the replica has; null:
    #: none
    goes_on: Optional[Literal["whole", "seconds"]]


class Instance(TypedDict):
    id: str
    tenant: str
    name: Optional[str]
    state: Literal["created", "active", "suspended", "frozen", "archived", "deleted"]
    thermal: Literal["hot", "warm", "cold"]
    warm_since: Optional[int]
    fault: Optional[Literal["error", "unknown", "corrupt", "missing"]]
    fault_reason: Optional[str]
    pending: Optional[str]
    pending_since: Optional[int]
    interrupted: bool
    vfs_path: Optional[str]
    updated: int
    created: int
    state_since: int
    idle_seconds: int
    next: Optional[InstanceNext]
    keep_hot: bool
    hold_until: Optional[int]
    ephemeral: bool
    policy: str
    hot_to_warm_s: Optional[int]
    idle_to_suspend_s: Optional[int]
    idle_to_freeze_s: Optional[int]
    own_replicate: Optional[str]
    replicate: str
    replicate_from_next_wake: bool
    recovery_point: InstanceRecoveryPoint
    attached: int
    calls: int
    bytes: Optional[int]
    labels: Dict[str, str]
    workbook: Optional[str]
    workbook_version: Optional[int]
    lineage: InstanceLineage
    stored: Optional[InstanceStored]
    upload: Literal["none", "queued", "running"]
    host: Optional[str]
    term: Optional[int]
    #: Not null while `host` does not answer: the state is the one that the sandbox had there, and
    #: only that host has what is newest
    unreachable: Optional[InstanceUnreachable]


class InstanceEventsQuery(TypedDict, total=False):
    type: str
    limit: int
    cursor: str


InstanceLifeStretchesItem = TypedDict(
    "InstanceLifeStretchesItem",
    {
        "state": "Literal['created', 'active', 'suspended', 'frozen', 'archived', 'deleted']",
        "from": "float",
        "to": "float",
    },
)


InstanceLifeHopsItem = TypedDict(
    "InstanceLifeHopsItem",
    {
        "time": "float",
        "from": "Literal['created', 'active', 'suspended', 'frozen', 'archived', 'deleted']",
        "to": "Literal['created', 'active', 'suspended', 'frozen', 'archived', 'deleted']",
        "trigger": "Literal['request', 'idle', 'schedule', 'operator', 'plan', 'crash', 'timeout', 'reconcile', 'quota', 'memory', 'pressure', 'boot', 'stop']",
        "source": "Optional[Literal['local', 'cold', 'archive', 'cloud', 'snapshot', 'blueprint', 'fresh']]",
        "took_ms": "Optional[float]",
    },
)


class InstanceLifeColumnsItemStatesItem(TypedDict):
    state: Literal["created", "active", "suspended", "frozen", "archived", "deleted"]
    seconds: float


InstanceLifeColumnsItem = TypedDict(
    "InstanceLifeColumnsItem",
    {
        "from": "float",
        "to": "float",
        "states": "List[InstanceLifeColumnsItemStatesItem]",
        "hops": "int",
        "wakes": "int",
        "faults": "List[Literal['error', 'unknown', 'corrupt', 'missing']]",
        "lines": "int",
        "cut": "bool",
        "estimated": "bool",
    },
)


InstanceLife = TypedDict(
    "InstanceLife",
    {
        "from": "int",
        "to": "int",
        "created": "int",
        "stretches": "Optional[List[InstanceLifeStretchesItem]]",
        "hops": "Optional[List[InstanceLifeHopsItem]]",
        "columns": "List[InstanceLifeColumnsItem]",
    },
)


class InstanceLoadPointsItem(TypedDict):
    time: int
    measured_s: Optional[float]
    cpu_s: float
    memory_bytes: int
    calls: int
    bytes_in: Optional[int]
    bytes_out: Optional[int]
    disk_bytes: Optional[int]


InstanceLoad = TypedDict(
    "InstanceLoad",
    {
        "from": "int",
        "to": "int",
        "step": "int",
        "made_of": "Literal['samples', 'minutes', 'hours']",
        "samples_since": "int",
        "points": "List[InstanceLoadPointsItem]",
    },
)


class InstanceNetworkRulesItem(TypedDict):
    url: str
    methods: List[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]]
    private: bool


class InstanceNetworkAllowedRulesItem(TypedDict):
    url: str
    methods: List[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]]
    private: bool


class InstanceNetworkAllowed(TypedDict):
    rules: List[InstanceNetworkAllowedRulesItem]
    requests_per_minute: int
    bytes_per_day: int


class InstanceNetworkReachedItem(TypedDict):
    host: str
    calls: int
    refused: int
    bytes_out: int
    bytes_in: int


class InstanceNetwork(TypedDict):
    rules: Optional[List[InstanceNetworkRulesItem]]
    requests_per_minute: Optional[int]
    bytes_per_day: Optional[int]
    updated: Optional[int]
    updated_by: Optional[str]
    #: The name of the person or key; null for one without a name, or that is gone.
    updated_by_name: Optional[str]
    enabled: bool
    running_policy: Optional[str]
    enabled_now: bool
    allowed: InstanceNetworkAllowed
    bytes_today: int
    since: int
    reached: List[InstanceNetworkReachedItem]


class _InstanceNetworkInputRulesItemRequired(TypedDict):
    #: A prefix like `https://api.example.com/v1/`, compared by whole segments, or `*`.
    url: str


class InstanceNetworkInputRulesItem(_InstanceNetworkInputRulesItemRequired, total=False):
    methods: List[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]]


class _InstanceNetworkInputRequired(TypedDict):
    rules: Optional[List[InstanceNetworkInputRulesItem]]


class InstanceNetworkInput(_InstanceNetworkInputRequired, total=False):
    requests_per_minute: Optional[int]
    bytes_per_day: Optional[int]


class InstanceSharesQuery(TypedDict, total=False):
    limit: int
    cursor: str


class InstanceUsagePointsItem(TypedDict):
    time: int
    cpu_s: float
    calls: int
    memory_bytes: int
    disk_bytes: Optional[int]


class InstanceUsageTotal(TypedDict):
    cpu_s: float
    calls: int


InstanceUsage = TypedDict(
    "InstanceUsage",
    {
        "from": "int",
        "to": "int",
        "step": "int",
        "points": "List[InstanceUsagePointsItem]",
        "total": "InstanceUsageTotal",
    },
)


class Invitation(TypedDict):
    id: str
    email: Optional[str]
    role: Literal["admin", "operator", "support", "viewer"]
    tenants: Optional[List[str]]
    created: int
    created_by: str
    #: The name of the person or key; null for one without a name, or that is gone.
    created_by_name: Optional[str]
    expires: int


class _InviteInputRequired(TypedDict):
    role: Literal["admin", "operator", "support", "viewer"]


class InviteInput(_InviteInputRequired, total=False):
    email: str
    tenants: Optional[List[str]]


class Invited(TypedDict):
    id: str
    email: Optional[str]
    role: Literal["admin", "operator", "support", "viewer"]
    tenants: Optional[List[str]]
    created: int
    created_by: str
    #: The name of the person or key; null for one without a name, or that is gone.
    created_by_name: Optional[str]
    expires: int
    link: str


class Job(TypedDict):
    id: str
    verb: Literal[
        "resume",
        "suspend",
        "freeze",
        "archive",
        "revive",
        "delete",
        "label",
        "forget",
        "drain",
    ]
    reason: Optional[str]
    labels: Optional[Dict[str, Optional[str]]]
    filter: Optional[JobFilter]
    include_held: bool
    state: Literal["running", "done", "cancelled"]
    actor: str
    #: The name of the person or key; null for one without a name, or that is gone.
    actor_name: Optional[str]
    created: int
    finished: Optional[int]
    chosen: int
    done: int
    failed: int
    skipped: int


class JobFilter(TypedDict, total=False):
    tenant: str
    state: Literal["created", "active", "suspended", "frozen", "archived", "deleted"]
    thermal: Literal["hot", "warm", "cold"]
    fault: Literal["error", "unknown", "corrupt", "missing"]
    name: str
    label: str
    host: str
    since: int
    until: int
    pending: Literal["any", "stuck"]
    due_since: int
    due_until: int
    idle_over: int
    idle_under: int
    q: str


class JobResult(TypedDict):
    instance: Optional[str]
    outcome: Literal["done", "failed", "skipped"]
    reason: Optional[str]
    time_ms: int


class JobResultsQuery(TypedDict, total=False):
    outcome: Literal["done", "failed", "skipped"]
    limit: int
    cursor: str


class JobStarted(TypedDict):
    id: str


class JobsQuery(TypedDict, total=False):
    state: Literal["running", "done", "cancelled"]
    limit: int
    cursor: str


class Key(TypedDict):
    id: str
    name: str
    role: Literal["admin", "operator", "support", "viewer", "tenant"]
    tenant: Optional[str]
    prefix: str
    created: int
    created_by: str
    #: The name of the person or key; null for one without a name, or that is gone.
    created_by_name: Optional[str]
    expires: Optional[int]
    max_call_s: Optional[int]
    last_used: Optional[int]


class _KeyInputRequired(TypedDict):
    name: str
    role: Literal["admin", "operator", "support", "viewer", "tenant"]


class KeyInput(_KeyInputRequired, total=False):
    tenant: str
    expires: Optional[int]
    max_call_s: Optional[int]


class _LedgerHeadRequired(TypedDict):
    kind: Literal["winterdock.ledger.head/1"]
    seq: int
    hash: str
    time_ms: int
    issuer: str
    signature: str


class LedgerHead(_LedgerHeadRequired, total=False):
    epoch: int


class LedgerProofFlaw(TypedDict):
    seq: Optional[int]
    why: str


class LedgerProof(TypedDict):
    ok: bool
    flaw: Optional[LedgerProofFlaw]
    lines: int
    dropped: int
    blanked: int
    segments: int
    last_seq: int
    last_hash: str
    signed_to: int
    took_ms: float


class LedgerSegment(TypedDict):
    id: str
    first_seq: int
    last_seq: int
    lines: int
    sealed: int
    exported: Optional[int]
    dropped: Optional[int]
    head: SegmentHead


LifeQuery = TypedDict(
    "LifeQuery",
    {
        "from": "int",
        "to": "int",
        "columns": "int",
    },
    total=False,
)


class LineageNodesItem(TypedDict):
    kind: Literal["instance", "snapshot", "blueprint"]
    id: str
    label: Optional[str]
    tenant: Optional[str]
    state: Optional[Literal["created", "active", "suspended", "frozen", "archived", "deleted"]]
    deleted: bool
    bytes: Optional[int]
    disk_bytes: Optional[int]
    created: Optional[int]


LineageEdgesItem = TypedDict(
    "LineageEdgesItem",
    {
        "from": "str",
        "to": "str",
    },
)


class Lineage(TypedDict):
    nodes: List[LineageNodesItem]
    edges: List[LineageEdgesItem]
    truncated: bool


class ListQuery(TypedDict, total=False):
    tenant: str
    state: Literal["created", "active", "suspended", "frozen", "archived", "deleted"]
    thermal: Literal["hot", "warm", "cold"]
    fault: Literal["error", "unknown", "corrupt", "missing"]
    name: str
    label: str
    host: str
    since: int
    until: int
    pending: Literal["any", "stuck"]
    due_since: int
    due_until: int
    idle_over: int
    idle_under: int
    q: str
    sort: Literal["updated", "-updated", "created", "-created", "name", "-name", "bytes", "-bytes"]
    limit: int
    cursor: str


LoadQuery = TypedDict(
    "LoadQuery",
    {
        "from": "int",
        "to": "int",
        "step": "int",
    },
    total=False,
)


class LogsQuery(TypedDict, total=False):
    #: Lines from then on, in seconds since the epoch
    since: float
    #: Lines up to then, in seconds since the epoch
    until: float
    #: Lines of this level and of those above it
    level: Literal["debug", "info", "warn", "error"]
    #: Lines that this printed
    source: Literal["exec", "eval", "run", "terminal", "schedule", "component", "log"]
    #: Lines with this text in them, in any case
    q: str
    #: Lines that this request printed
    request_id: str
    #: `1`: an event stream, as with `Accept: text/event-stream`, that first has the newest lines
    follow: Literal["0", "1"]
    limit: int
    cursor: int
    #: Why; the ledger keeps it. Support needs one
    reason: str


class MakeBackupInput(TypedDict, total=False):
    reason: str


class MakeFolderInput(TypedDict):
    path: str


class _McpMessageRequired(TypedDict):
    jsonrpc: Literal["2.0"]


class McpMessage(_McpMessageRequired, total=False):
    id: Union[str, float]
    method: str
    params: Dict[str, Any]


class _McpMessageInputRequired(TypedDict):
    jsonrpc: Literal["2.0"]


class McpMessageInput(_McpMessageInputRequired, total=False):
    id: Union[str, float]
    method: str
    params: Dict[str, Any]


class MePerson(TypedDict):
    id: str
    email: str
    name: str


class MeKey(TypedDict):
    id: str
    name: str
    expires: Optional[int]


class Me(TypedDict):
    actor: str
    role: Literal["admin", "operator", "support", "viewer", "tenant"]
    tenants: Optional[List[str]]
    person: Optional[MePerson]
    key: Optional[MeKey]
    may: List[str]
    reads: List[Literal["workspace", "memory", "tmp"]]


class Moment(TypedDict):
    #: When it was committed, at the latest, in milliseconds
    time_ms: int
    #: `filing`: of a file that was at rest; `named`: kept until its name is removed
    kind: Literal["commit", "filing", "named"]
    #: Of one that is named
    name: Optional[str]
    #: It is the last one of so many seconds at most: those before it may be gone
    grain_s: int


class MomentsQuery(TypedDict, total=False):
    #: Those next to this time, in seconds since the epoch; without it the newest
    around: float
    #: Those that have a name alone
    kind: Literal["named"]
    limit: int


MoveInput = TypedDict(
    "MoveInput",
    {
        "from": "str",
        "to": "str",
    },
)


class NameMomentInput(TypedDict, total=False):
    time: float
    reason: str


class PasswordChangeInput(TypedDict):
    current: str
    next: str


class PastQuery(TypedDict, total=False):
    #: As of the newest moment of the replica up to then, in seconds since the epoch; a whole number
    #: means the end of that second
    at: float


class PatchHostInput(TypedDict):
    #: Instead of those that it has; a start with WB_HOST_LABELS sets its own
    labels: Dict[str, str]


class PatchInput(TypedDict, total=False):
    name: Optional[str]
    labels: Dict[str, str]
    keep_hot: bool
    hold_until: Optional[int]
    #: Idle seconds after which its process is paused in memory (`warm`), until the next request; 0:
    #: never. Changes no state.
    hot_to_warm_s: Optional[int]
    idle_to_suspend_s: Optional[int]
    #: Another name of `idle_to_suspend_s`: idle seconds until it is suspended, or, ephemeral,
    #: archived and deleted. Both are taken when they say the same.
    timeout_secs: Optional[int]
    idle_to_freeze_s: Optional[int]
    replicate: Optional[str]
    policy: Literal["posix", "minimal", "compute", "network", "native"]
    workbook: Optional[str]
    #: Of the workbook that is named, else of the one that it has; by default the newest.
    workbook_version: int
    #: Docks it also when that breaks something that the sandbox has: a removed component, for
    #: example.
    accept_changes: bool


class PatchScheduleInput(TypedDict, total=False):
    cron: str
    timezone: str
    command: str
    component: str
    input: Dict[str, Any]
    timeout_ms: Optional[int]
    missed: Literal["skip", "once", "all"]
    paused: bool


class Person(TypedDict):
    id: str
    email: str
    name: str
    role: Literal["admin", "operator", "support", "viewer"]
    tenants: Optional[List[str]]
    disabled: bool
    created: int
    sessions: int
    signed_in: Optional[int]


class PersonPatchInput(TypedDict, total=False):
    name: str
    role: Literal["admin", "operator", "support", "viewer"]
    tenants: Optional[List[str]]
    disabled: bool


PlanHopsItem = TypedDict(
    "PlanHopsItem",
    {
        "from": "Literal['created', 'active', 'suspended', 'frozen', 'archived', 'deleted']",
        "to": "Literal['created', 'active', 'suspended', 'frozen', 'archived', 'deleted']",
        "verb": "Literal['resume', 'suspend', 'freeze', 'archive', 'revive', 'delete']",
        "passing": "bool",
    },
)


class PlanLossesItem(TypedDict):
    loss: Literal["process", "tmp", "everything"]
    words: str


class PlanTmp(TypedDict):
    files: int
    bytes: int


Plan = TypedDict(
    "Plan",
    {
        "id": "str",
        "from": "Literal['created', 'active', 'suspended', 'frozen', 'archived', 'deleted']",
        "to": "Literal['created', 'active', 'suspended', 'frozen', 'archived', 'deleted']",
        "hops": "List[PlanHopsItem]",
        "losses": "List[PlanLossesItem]",
        "calls": "int",
        "attached": "int",
        "tmp": "Optional[PlanTmp]",
        "refusal": "Optional[str]",
    },
)


class PlanAnswer(TypedDict):
    workbook: Optional[str]
    version: Optional[int]
    hash: str
    title: Optional[str]
    plan: Optional[WorkbookPlan]
    problems: List[PlanProblem]
    durable: List[str]
    components: int


_PlanComponentRequired = TypedDict(
    "_PlanComponentRequired",
    {
        "name": "str",
        "path": "str",
        "lang": "Literal['js', 'ts', 'python', 'sh', 'wasm']",
        "deps": "List[str]",
        "uses": "List[Literal['vfs', 'log', 'clock', 'random', 'fetch']]",
        "in": "List[ComponentPort]",
        "out": "List[ComponentPort]",
        "persist": "bool",
        "src": "str",
        "schedule": "Optional[PlanSchedule]",
        "line": "int",
    },
)


class PlanComponent(_PlanComponentRequired, total=False):
    #: The whole memory of a WebAssembly module is what is kept (`:persist memory`).
    persist_memory: bool
    file: str


class _PlanProblemRequired(TypedDict):
    code: Literal[
        "syntax",
        "name",
        "duplicate",
        "language",
        "capability",
        "dependency",
        "input",
        "output_taken",
        "type",
        "cycle",
        "component_body",
        "schedule",
        "size",
        "depth",
        "count",
    ]
    message: str
    mend: str
    line: int
    column: int


class PlanProblem(_PlanProblemRequired, total=False):
    name: str


class PlanQuery(TypedDict):
    to: Literal["created", "active", "suspended", "frozen", "archived", "deleted"]


class _PlanScheduleRequired(TypedDict):
    cron: Optional[str]
    timezone: Optional[str]


class PlanSchedule(_PlanScheduleRequired, total=False):
    at: Optional[int]
    repeat: Optional[str]


_PlanWorldEdgesItemRequired = TypedDict(
    "_PlanWorldEdgesItemRequired",
    {
        "from": "str",
        "to": "str",
    },
)


class PlanWorldEdgesItem(_PlanWorldEdgesItemRequired, total=False):
    name: str


class PlanWorld(TypedDict):
    name: str
    path: str
    schedule: Optional[PlanSchedule]
    imports: List[ComponentPort]
    exports: List[ComponentPort]
    components: List[PlanComponent]
    edges: List[PlanWorldEdgesItem]
    workflows: List[PlanWorld]
    deps: List[str]
    line: int


class PrefetchAnswer(TypedDict):
    source: Literal["local", "cold", "archive", "cloud", "snapshot", "blueprint", "fresh"]
    vfs_path: Optional[str]


class PreviewAnswerMore(TypedDict):
    suspended: int
    frozen: int
    ended: int


class PreviewAnswerFewer(TypedDict):
    suspended: int
    frozen: int
    ended: int


class PreviewAnswer(TypedDict):
    within_s: int
    more: PreviewAnswerMore
    fewer: PreviewAnswerFewer
    cut: bool


class PreviewInput(TypedDict, total=False):
    tenant: str
    hot_to_warm_s: Optional[int]
    idle_to_suspend_s: Optional[int]
    idle_to_freeze_s: Optional[int]


class PrintedLine(TypedDict):
    #: Grows from line to line; the place of a line in its log
    seq: int
    #: When it was printed, in milliseconds since the epoch
    time_ms: int
    instance: str
    #: `log`: the log itself, of lines that it lacks
    source: Literal["exec", "eval", "run", "terminal", "schedule", "component", "log"]
    #: `log`: what a component logged
    stream: Literal["stdout", "stderr", "log"]
    #: What the line says itself at its beginning; else `warn` of stderr, and `info`
    level: Literal["debug", "info", "warn", "error"]
    #: Without control characters. A line of more than 8192 characters is several. Secrets are
    #: asterisks
    text: str
    #: The request that caused it: the same as that of its lines in the ledger
    request_id: Optional[str]


class ProblemErrorsItem(TypedDict):
    path: str
    message: str


class _ProblemRequired(TypedDict):
    type: str
    title: str
    status: int
    code: str
    detail: str
    request_id: str


class Problem(_ProblemRequired, total=False):
    hint: str
    errors: List[ProblemErrorsItem]


class PutBackupSettingsInputKeep(TypedDict):
    hourly: int
    daily: int
    weekly: int
    monthly: int


class PutBackupSettingsInput(TypedDict, total=False):
    enabled: bool
    target: Optional[str]
    cron: str
    timezone: str
    keep: PutBackupSettingsInputKeep
    with_keys: bool
    trial_cron: Optional[str]


class RawQuery(TypedDict, total=False):
    part: Literal["file", "log"]
    reason: str


class ReadinessWalls(TypedDict):
    net: bool
    uid: bool
    caps: bool
    files: bool


class _ReadinessRequired(TypedDict):
    status: Literal["ok", "degraded"]
    walls: ReadinessWalls


class Readiness(_ReadinessRequired, total=False):
    because: List[str]


RestoreBackupInput = TypedDict(
    "RestoreBackupInput",
    {
        "instance": "str",
        "as": "str",
        "reason": "str",
        "dry_run": "bool",
    },
    total=False,
)


class RestoreInput(TypedDict, total=False):
    tenant: str
    count: int
    name: str
    policy: Literal["posix", "minimal", "compute", "network", "native"]
    start: bool


class RestoreInstanceInput(TypedDict, total=False):
    snapshot: str
    time: float
    moment: str
    reason: str


class RestoredMomentUndo(TypedDict):
    moment: str


class RestoredMoment(TypedDict):
    used: float
    undo: Optional[RestoredMomentUndo]
    instance: Instance


class _ResumeAnswerRequired(TypedDict):
    path: Literal["warm", "cold"]
    vfs_path: str
    took_ms: float
    instance: Instance


class ResumeAnswer(_ResumeAnswerRequired, total=False):
    result: Literal["already_active"]
    source: Literal["local", "cold", "archive", "cloud", "snapshot", "blueprint", "fresh"]


ResumeInput = TypedDict(
    "ResumeInput",
    {
        "policy": "Literal['posix', 'minimal', 'compute', 'network', 'native']",
        "force": "bool",
        "from": "Literal['stored']",
        "reason": "str",
    },
    total=False,
)


class RunOutput(TypedDict):
    run: SandboxRun
    pieces: List[RunPiece]
    dropped: int
    next: int


class RunOutputQuery(TypedDict, total=False):
    #: The byte to begin with, of both outputs together. Default: 0.
    offset: int
    #: Bytes of an answer, about. Not of a stream.
    limit: int


class _RunPieceRequired(TypedDict):
    stream: Literal["stdout", "stderr"]
    offset: int
    text: str


class RunPiece(_RunPieceRequired, total=False):
    #: There when `text` is in base64, being no UTF-8.
    encoding: Literal["base64"]


class _RunPlanInputRequired(TypedDict):
    to: Literal["created", "active", "suspended", "frozen", "archived", "deleted"]


class RunPlanInput(_RunPlanInputRequired, total=False):
    reason: str
    force: bool


class RunsQuery(TypedDict, total=False):
    limit: int
    cursor: str


class SalvageAnswerLostItem(TypedDict):
    volume: Optional[Literal["workspace", "memory", "tmp"]]
    path: Optional[str]
    why: str


class SalvageAnswer(TypedDict):
    recovered: int
    recovered_bytes: int
    lost: List[SalvageAnswerLostItem]
    lost_count: int
    list: Optional[str]
    instance: Instance


class SalvageInput(TypedDict, total=False):
    id: str
    name: str
    reason: str


class SandboxRun(TypedDict):
    id: str
    instance: str
    command: str
    language: Literal["shell", "js", "python"]
    cwd: str
    terminal: Optional[str]
    state: Literal["queued", "running", "done", "stopped", "failed", "lost"]
    created: int
    started: Optional[int]
    ended: Optional[int]
    took_ms: Optional[float]
    exit_code: Optional[int]
    timed_out: bool
    reason: Optional[str]
    woke: Optional[Literal["hot", "warm", "cold"]]
    output_bytes: int
    output_start: int
    actor: str
    #: The name of the person or key; null for one without a name, or that is gone.
    actor_name: Optional[str]


class _ScheduleRequired(TypedDict):
    id: str
    instance: str
    cron: Optional[str]
    at: Optional[int]
    repeat: Optional[str]
    timezone: str
    command: Optional[str]
    component: Optional[str]
    timeout_ms: Optional[int]
    missed: Literal["skip", "once", "all"]
    paused: bool
    source: Literal["api", "workbook"]
    next_at: Optional[int]
    last_at: Optional[int]
    last_result: Optional[Literal["done", "failed", "skipped", "lost"]]
    last_took_ms: Optional[float]
    failures: int
    fault: Optional[str]
    resting: bool
    created_at: int


class Schedule(_ScheduleRequired, total=False):
    input: Dict[str, Any]


class ScheduleRun(TypedDict):
    id: str
    schedule: str
    planned_at: Optional[int]
    missed: bool
    started_ms: int
    took_ms: Optional[float]
    result: Optional[Literal["done", "failed", "skipped", "lost"]]
    error: Optional[str]
    exit_code: Optional[int]
    woke: Optional[Literal["hot", "warm", "cold"]]
    actor: str
    #: The name of the person or key; null for one without a name, or that is gone.
    actor_name: Optional[str]


class SchedulesQuery(TypedDict, total=False):
    limit: int
    cursor: str


class _SearchHitRequired(TypedDict):
    volume: Literal["workspace", "memory", "tmp"]
    path: str


class SearchHit(_SearchHitRequired, total=False):
    line: int
    text: str


class _SearchQueryRequired(TypedDict):
    q: str


_SearchQueryOptional = TypedDict(
    "_SearchQueryOptional",
    {
        "volume": "Literal['workspace', 'memory', 'tmp']",
        "in": "Literal['name', 'content']",
        "limit": "int",
    #: As of the newest moment of the replica up to then, in seconds since the epoch; a whole number
    #: means the end of that second
        "at": "float",
    },
    total=False,
)


class SearchQuery(_SearchQueryRequired, _SearchQueryOptional):
    pass


class Secret(TypedDict):
    name: str
    of: Literal["tenant", "sandbox"]
    url: str
    header: str
    format: str
    created: int
    created_by: str
    #: The name of the person or key; null for one without a name, or that is gone.
    created_by_name: Optional[str]
    updated: int
    updated_by: str
    #: The name of the person or key; null for one without a name, or that is gone.
    updated_by_name: Optional[str]
    #: To the minute; null: not since it was set.
    last_used: Optional[int]
    #: False: the server’s key does not open it. It has to be set again.
    opens: bool


class _SecretInputRequired(TypedDict):
    #: Encrypted as it comes in. No answer ever holds it again.
    value: str
    #: Requests to this address and below it carry the secret: `https://api.example.com/v1/`.
    #: Without TLS only to a host that the tenant’s network list has as private.
    url: str


class SecretInput(_SecretInputRequired, total=False):
    header: str
    #: The value of the header, with `{}` in the place of the secret.
    format: str


class SegmentHead(TypedDict):
    kind: Literal["winterdock.ledger.segment/1"]
    id: str
    first_seq: int
    last_seq: int
    lines: int
    previous_hash: str
    first_hash: str
    last_hash: str
    sealed_ms: int
    issuer: str
    signature: str


class Session(TypedDict):
    id: str
    created: int
    expires: int
    address: Optional[str]
    agent: Optional[str]
    current: bool


class Settings(TypedDict):
    hot_to_warm_s: int
    idle_to_suspend_s: int
    idle_to_freeze_s: int


class SettingsPatchInput(TypedDict, total=False):
    #: Idle seconds after which its process is paused in memory (`warm`), until the next request; 0:
    #: never. Changes no state.
    hot_to_warm_s: int
    idle_to_suspend_s: int
    idle_to_freeze_s: int


class ShareMembersValue(TypedDict):
    sha256: str
    bytes: int


class Share(TypedDict):
    id: str
    instance: str
    tenant: str
    format: Literal["wbundle/1"]
    volumes: List[Literal["workspace", "memory", "tmp"]]
    private_included: bool
    signed: bool
    issuer: Optional[str]
    sha256: str
    bytes: int
    members: Dict[str, ShareMembersValue]
    created: int
    actor: str
    #: The name of the person or key; null for one without a name, or that is gone.
    actor_name: Optional[str]


class SharesQuery(TypedDict, total=False):
    tenant: str
    limit: int
    cursor: str


class ShipInput(TypedDict, total=False):
    include_private: bool
    #: As of the newest moment up to then, in seconds since the epoch, which the manifest names
    at: float
    reason: str
    #: html: its page, with the whole bundle in it, as one file that a browser shows and saves the
    #: bundle from.
    format: Literal["zip", "html"]


class SimulateInput(TypedDict, total=False):
    tenant: str
    idle_to_suspend_s: int
    idle_to_freeze_s: int
    days: int
    curve: List[int]


class SimulationWas(TypedDict):
    process_hours: float
    cold_wakes: int
    thaws: int


class SimulationWould(TypedDict):
    process_hours: float
    cold_wakes: int
    thaws: int


class SimulationCurveItemWould(TypedDict):
    process_hours: float
    cold_wakes: int
    thaws: int


class SimulationCurveItem(TypedDict):
    idle_to_suspend_s: int
    would: SimulationCurveItemWould
    estimated_wakes: int


class Simulation(TypedDict):
    since: int
    until: int
    lines: int
    first: Optional[int]
    idle_ends: int
    cut: bool
    idle_to_suspend_s: int
    idle_to_freeze_s: int
    was: SimulationWas
    would: SimulationWould
    estimated_wakes: int
    curve: List[SimulationCurveItem]


class SnapshotContentsItem(TypedDict):
    volume: Literal["workspace", "memory", "tmp"]
    files: int
    bytes: int


class Snapshot(TypedDict):
    id: str
    tenant: str
    tag: Optional[str]
    source: str
    hash: str
    bytes: int
    volumes: List[Literal["workspace", "memory", "tmp"]]
    contents: List[SnapshotContentsItem]
    created: int
    actor: str
    #: The name of the person or key; null for one without a name, or that is gone.
    actor_name: Optional[str]
    instances: int


class SnapshotsQuery(TypedDict, total=False):
    tenant: str
    tag: str
    source: str
    limit: int
    cursor: str


class SqlAnswer(TypedDict):
    columns: List[str]
    rows: List[List[Any]]
    truncated: bool


class _SqlInputRequired(TypedDict):
    sql: str


class SqlInput(_SqlInputRequired, total=False):
    params: Union[List[Optional[Union[str, float]]], Dict[str, Optional[Union[str, float]]]]


class _StartJobInputRequired(TypedDict):
    verb: Literal["resume", "suspend", "freeze", "archive", "revive", "delete", "label"]


class StartJobInput(_StartJobInputRequired, total=False):
    reason: str
    filter: JobFilter
    ids: List[str]
    labels: Dict[str, Optional[str]]
    include_held: bool
    dry_run: bool


class _StartRunInputRequired(TypedDict):
    command: str


class StartRunInput(_StartRunInputRequired, total=False):
    cwd: str
    env: Dict[str, str]
    #: Text for its stdin, in UTF-8.
    stdin: str
    #: Milliseconds from its turn on, at most `WB_MAX_RUN`, or `max_run_s` of the tenant. Without
    #: it, the time that the policy of the instance gives a call.
    timeout_ms: int


class StorageRegistryCheck(TypedDict):
    time: int
    took_ms: int
    ok: bool
    says: str


class StorageRegistry(TypedDict):
    file: Optional[str]
    inside_data: bool
    bytes: int
    wal_bytes: int
    free_bytes: int
    checkpointed: Optional[int]
    check: Optional[StorageRegistryCheck]


class StorageLedger(TypedDict):
    seq: int
    sealed: int
    dropped: int
    last_sealed: Optional[str]
    open_lines: int


class StorageDrawersItem(TypedDict):
    drawer: Literal["live", "cold", "archive"]
    rows: int
    bytes: int
    writable: bool
    same_disk: bool


class StorageMeasuredDrawersItem(TypedDict):
    drawer: str
    files: int
    bytes: int


class StorageMeasuredRows(TypedDict):
    live: int
    cold: int
    archive: int


class StorageMeasured(TypedDict):
    time: int
    took_ms: int
    drawers: List[StorageMeasuredDrawersItem]
    rows: StorageMeasuredRows


class StorageScrubWalk(TypedDict):
    begun: int
    files: int
    bytes: int
    rotten: int


class StorageScrubLast(TypedDict):
    begun: int
    ended: int
    files: int
    bytes: int
    rotten: int


class StorageScrub(TypedDict):
    walk: Optional[StorageScrubWalk]
    last: Optional[StorageScrubLast]
    next: Optional[int]


class StorageStoreAway(TypedDict):
    since: int
    why: str


class StorageStoreUploads(TypedDict):
    queued: int
    running: int
    since: Optional[int]


class StorageStoreCache(TypedDict):
    bytes: int
    limit_bytes: int


class StorageStoreLeavingSandboxes(TypedDict):
    left: int
    of: int


class StorageStoreLeavingCopies(TypedDict):
    left: int
    of: int


class StorageStoreLeavingBytes(TypedDict):
    left: int
    of: int


class StorageStoreLeavingStaysItem(TypedDict):
    name: str
    why: str


class StorageStoreLeaving(TypedDict):
    since: int
    sandboxes: StorageStoreLeavingSandboxes
    copies: StorageStoreLeavingCopies
    bytes: StorageStoreLeavingBytes
    stays: List[StorageStoreLeavingStaysItem]
    done: bool


class StorageStore(TypedDict):
    url: str
    ack: Literal["stored", "queued"]
    away: Optional[StorageStoreAway]
    lacks: Optional[List[str]]
    rows: int
    uploads: StorageStoreUploads
    cache: StorageStoreCache
    leaving: Optional[StorageStoreLeaving]


class StorageDisk(TypedDict):
    bytes: int
    free_bytes: int


class StoragePlaces(TypedDict):
    serving: int
    spare: int
    ahead: int
    most: int


class StorageMemory(TypedDict):
    serving_bytes: int
    spare_bytes: int
    limit_bytes: Optional[int]


class StorageCpu(TypedDict):
    shared_by: Literal["cgroup_v2", "cgroup_v1", "priorities"]


class StorageWallsItem(TypedDict):
    wall: Literal["net", "uid", "caps", "files", "pid", "ipc", "seccomp"]
    missing: Optional[str]


class StorageBackup(TypedDict):
    time: int
    sandboxes: int
    bytes: int
    keys: bool
    wrong: int
    to: str


class StorageKeptItemLimitsItem(TypedDict):
    setting: Optional[str]
    value: Optional[int]
    unit: Literal["days", "rows", "each"]


class StorageKeptItem(TypedDict):
    name: Literal[
        "ledger",
        "sandbox_hours",
        "tenant_hours",
        "network_hours",
        "cpu_days",
        "wake_times",
        "jobs",
        "job_results",
        "runs",
        "schedule_runs",
        "webhook_deliveries",
        "workbook_versions",
    ]
    rows: int
    more: bool
    about_bytes: int
    limits: List[StorageKeptItemLimitsItem]


class StorageReplicationMonth(TypedDict):
    requests: int
    bytes: int


class StorageReplicationAway(TypedDict):
    since: int
    why: str


class StorageReplicationSpoolRefused(TypedDict):
    since: int
    why: str


class StorageReplicationSpool(TypedDict):
    bytes: int
    limit_bytes: int
    refused: Optional[StorageReplicationSpoolRefused]


class StorageReplicationLag(TypedDict):
    open: int
    behind: int
    max_s: float
    mean_s: float
    registry_s: float


class StorageReplicationRegistryGap(TypedDict):
    at: int
    why: str


class StorageReplicationRequests(TypedDict):
    count: int
    shared: bool


class StorageReplicationLate(TypedDict):
    since: int
    sandboxes: int
    registry: bool
    most_s: float


class StorageReplication(TypedDict):
    url: str
    replicate: str
    retention: str
    month: Optional[StorageReplicationMonth]
    away: Optional[StorageReplicationAway]
    spool: StorageReplicationSpool
    lag: StorageReplicationLag
    registry_gap: Optional[StorageReplicationRegistryGap]
    waiting: int
    requests: StorageReplicationRequests
    late: Optional[StorageReplicationLate]


class Storage(TypedDict):
    registry: StorageRegistry
    ledger: StorageLedger
    drawers: List[StorageDrawersItem]
    measured: Optional[StorageMeasured]
    scrub: StorageScrub
    store: Optional[StorageStore]
    disk: StorageDisk
    places: StoragePlaces
    memory: StorageMemory
    cpu: StorageCpu
    walls: List[StorageWallsItem]
    backup: Optional[StorageBackup]
    kept: List[StorageKeptItem]
    replication: Optional[StorageReplication]
    running: List[Literal["registry", "drawers"]]


class StorageCheckInput(TypedDict):
    what: Literal["registry", "drawers"]


StreamQuery = TypedDict(
    "StreamQuery",
    {
        "tenant": "str",
        "instance": "str",
        "type": "str",
        "actor": "str",
        "trigger": "Literal['request', 'idle', 'schedule', 'operator', 'plan', 'crash', 'timeout', 'reconcile', 'quota', 'memory', 'pressure', 'boot', 'stop']",
        "last_event_id": "int",
        "with": "Literal['changes']",
    },
    total=False,
)


class _TakeBackInputRequired(TypedDict):
    path: str


class TakeBackInput(_TakeBackInputRequired, total=False):
    time: float
    moment: str
    reason: str


class TakeSnapshotInput(TypedDict, total=False):
    tag: str


class TakenBack(TypedDict):
    #: Of the moment, in seconds since the epoch with fractions
    used: float
    #: Files and links
    files: int
    bytes: int


class TenantBytes(TypedDict):
    total: int
    live: int
    cold: int
    archive: int
    none: int


class TenantVolumes(TypedDict):
    sandboxes: int
    workspace: int
    memory: int
    tmp: int


class TenantThresholds(TypedDict):
    hot_to_warm_s: int
    idle_to_suspend_s: int
    idle_to_freeze_s: int


class TenantQuotasMaxSandboxes(TypedDict):
    limit: Optional[int]
    used: int


class TenantQuotasMaxActive(TypedDict):
    limit: Optional[int]
    used: int


class TenantQuotasMaxBytes(TypedDict):
    limit: Optional[int]
    used: int


class TenantQuotasMaxDailyCpuS(TypedDict):
    limit: Optional[int]
    used: int


class TenantQuotas(TypedDict):
    max_sandboxes: TenantQuotasMaxSandboxes
    max_active: TenantQuotasMaxActive
    max_bytes: TenantQuotasMaxBytes
    max_daily_cpu_s: TenantQuotasMaxDailyCpuS


class TenantForgetting(TypedDict):
    job: str
    started: int
    finished: Optional[int]


class Tenant(TypedDict):
    tenant: str
    counts: Dict[str, int]
    bytes: TenantBytes
    volumes: TenantVolumes
    hot_to_warm_s: Optional[int]
    idle_to_suspend_s: Optional[int]
    idle_to_freeze_s: Optional[int]
    max_run_s: Optional[int]
    max_call_s: Optional[int]
    replicate: Optional[str]
    thresholds: TenantThresholds
    quotas: TenantQuotas
    forgetting: Optional[TenantForgetting]


class TenantForgetPlanKeptItem(TypedDict):
    id: str
    name: Optional[str]
    state: Literal["created", "active", "suspended", "frozen", "archived", "deleted"]
    why: Literal["keep_hot", "held"]


class TenantForgetPlanBackupsItem(TypedDict):
    id: Optional[str]
    time: int
    to: Optional[str]
    gone_by: Optional[int]


class TenantForgetPlanStore(TypedDict):
    objects: int
    remain_until: Optional[int]


class TenantForgetPlan(TypedDict):
    tenant: str
    sandboxes: Dict[str, int]
    kept: List[TenantForgetPlanKeptItem]
    kept_count: int
    snapshots: int
    blueprints: List[str]
    clones: int
    shares: int
    workbooks: int
    keys: int
    people: int
    sessions: int
    limited: int
    invitations: int
    jobs: int
    lines: int
    orphans: int
    doubtful: List[str]
    registry_copies: List[str]
    registry_bytes: int
    backups: List[TenantForgetPlanBackupsItem]
    set_aside: List[str]
    store: TenantForgetPlanStore
    registry_moments_end: bool


class TenantNetworkRulesItem(TypedDict):
    url: str
    methods: List[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]]
    private: bool


class TenantNetwork(TypedDict):
    tenant: str
    rules: Optional[List[TenantNetworkRulesItem]]
    requests_per_minute: Optional[int]
    bytes_per_day: Optional[int]
    updated: Optional[int]
    updated_by: Optional[str]
    #: The name of the person or key; null for one without a name, or that is gone.
    updated_by_name: Optional[str]


class _TenantNetworkInputRulesItemRequired(TypedDict):
    #: A prefix like `https://api.example.com/v1/`, compared by whole segments, or `*`.
    url: str


class TenantNetworkInputRulesItem(_TenantNetworkInputRulesItemRequired, total=False):
    methods: List[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]]
    #: The name may have an address that is not public, and plain http is given secrets.
    private: bool


class _TenantNetworkInputRequired(TypedDict):
    rules: List[TenantNetworkInputRulesItem]


class TenantNetworkInput(_TenantNetworkInputRequired, total=False):
    requests_per_minute: Optional[int]
    bytes_per_day: Optional[int]


class TenantPatchInput(TypedDict, total=False):
    #: Idle seconds after which its process is paused in memory (`warm`), until the next request; 0:
    #: never. Changes no state.
    hot_to_warm_s: Optional[int]
    idle_to_suspend_s: Optional[int]
    idle_to_freeze_s: Optional[int]
    max_sandboxes: Optional[int]
    max_active: Optional[int]
    max_bytes: Optional[int]
    max_daily_cpu_s: Optional[int]
    #: The longest time of a run, in place of `WB_MAX_RUN`. Null takes it away.
    max_run_s: Optional[int]
    max_call_s: Optional[int]
    replicate: Optional[str]


class TenantUsagePointsItem(TypedDict):
    time: int
    cpu_s: float
    calls: int
    memory_bytes: int
    disk_bytes: int
    wakes: int
    faults: int
    awake_s: float


class TenantUsageTotal(TypedDict):
    cpu_s: float
    calls: int
    wakes: int
    faults: int
    awake_s: float


TenantUsage = TypedDict(
    "TenantUsage",
    {
        "from": "int",
        "to": "int",
        "step": "int",
        "points": "List[TenantUsagePointsItem]",
        "total": "TenantUsageTotal",
        "complete": "bool",
    },
)


class TenantsQuery(TypedDict, total=False):
    q: str
    own_thresholds: Literal["true", "false"]
    limit: int
    cursor: str


class Terminal(TypedDict):
    id: str
    instance: str
    number: int
    created: int
    ended: Optional[int]
    cwd: str
    run: Optional[str]
    shown: int
    gone: Optional[str]


class _TerminalLineInputRequired(TypedDict):
    text: str


class TerminalLineInput(_TerminalLineInputRequired, total=False):
    language: Literal["shell", "js", "python"]


class TopLoadPointsItem(TypedDict):
    time: int
    measured_s: Optional[float]
    cpu_s: float
    memory_bytes: int
    calls: int
    bytes_in: Optional[int]
    bytes_out: Optional[int]
    disk_bytes: Optional[int]


class TopLoadTopItem(TypedDict):
    name: str
    cpu_s: float
    memory_bytes: int
    calls: int
    bytes_in: int
    bytes_out: int


TopLoad = TypedDict(
    "TopLoad",
    {
        "from": "int",
        "to": "int",
        "step": "int",
        "made_of": "Literal['samples', 'minutes', 'hours']",
        "samples_since": "int",
        "points": "List[TopLoadPointsItem]",
        "top": "List[TopLoadTopItem]",
    },
)


TopLoadQuery = TypedDict(
    "TopLoadQuery",
    {
        "from": "int",
        "to": "int",
        "step": "int",
        "top": "int",
    },
    total=False,
)


class UndoRestoreInput(TypedDict, total=False):
    reason: str


UpgradeAnswer = TypedDict(
    "UpgradeAnswer",
    {
        "from": "int",
        "to": "int",
        "breaking": "bool",
        "changes": "List[UpgradeChange]",
    },
)


class UpgradeChange(TypedDict):
    kind: Literal[
        "removed_component",
        "changed_output",
        "changed_input",
        "new_capability",
        "dropped_persist",
        "added_component",
        "changed_code",
    ]
    component: str
    message: str
    breaking: bool


_UpgradeQueryRequired = TypedDict(
    "_UpgradeQueryRequired",
    {
        "from": "int",
    },
)


class UpgradeQuery(_UpgradeQueryRequired, total=False):
    tenant: str
    to: int


UsageQuery = TypedDict(
    "UsageQuery",
    {
        "from": "int",
        "to": "int",
        "step": "int",
    },
    total=False,
)


Variable = TypedDict(
    "Variable",
    {
        "name": "str",
    #: Null without a value, and for roles that see names alone.
        "value": "Optional[str]",
    #: False: it came with a copy or a bundle by its name, and wants a value.
        "is_set": "bool",
    #: Whose value it is.
        "from": "Literal['tenant', 'blueprint', 'snapshot', 'sandbox']",
    },
)


class VerbBodyInput(TypedDict, total=False):
    reason: str
    force: bool


class VolumeInfo(TypedDict):
    volume: Literal["workspace", "memory", "tmp"]
    files: int
    bytes: int
    survives_resume: bool
    ships: bool


class WakeTimeBucketsItem(TypedDict):
    le_ms: Optional[float]
    count: int


class WakeTime(TypedDict):
    path: Literal["warm", "cold"]
    source: Optional[Literal["local", "cold", "archive", "cloud", "snapshot", "blueprint", "fresh"]]
    count: int
    mean_ms: float
    p50_ms: float
    p99_ms: float
    buckets: List[WakeTimeBucketsItem]


class WakeTimesQuery(TypedDict, total=False):
    days: int


class Webhook(TypedDict):
    id: str
    name: str
    url: str
    tenant: Optional[str]
    types: Optional[List[str]]
    enabled: bool
    off_reason: Optional[str]
    failures: int
    failing_since_ms: Optional[int]
    last_success_ms: Optional[int]
    pending: int
    old_secret_until: Optional[int]
    created: int
    created_by: str
    #: The name of the person or key; null for one without a name, or that is gone.
    created_by_name: Optional[str]


class WebhookDelivery(TypedDict):
    id: str
    webhook: str
    seq: Optional[int]
    type: str
    state: Literal["pending", "delivered", "failed"]
    attempts: int
    created_ms: int
    next_ms: Optional[int]
    attempted_ms: Optional[int]
    took_ms: Optional[float]
    status: Optional[int]
    error: Optional[str]


class _WebhookInputRequired(TypedDict):
    name: str
    url: str


class WebhookInput(_WebhookInputRequired, total=False):
    tenant: str
    types: Optional[List[str]]


class WebhookPatchInput(TypedDict, total=False):
    name: str
    url: str
    types: Optional[List[str]]
    enabled: bool
    resume_from: Literal["stopped", "now"]


class WebhookSecret(TypedDict):
    id: str
    name: str
    url: str
    tenant: Optional[str]
    types: Optional[List[str]]
    enabled: bool
    off_reason: Optional[str]
    failures: int
    failing_since_ms: Optional[int]
    last_success_ms: Optional[int]
    pending: int
    old_secret_until: Optional[int]
    created: int
    created_by: str
    #: The name of the person or key; null for one without a name, or that is gone.
    created_by_name: Optional[str]
    secret: str


class WebhooksQuery(TypedDict, total=False):
    tenant: str


class Workbook(TypedDict):
    id: str
    tenant: str
    title: Optional[str]
    version: int
    hash: str
    bytes: int
    components: Optional[int]
    problems: int
    created_at: int
    updated_at: int
    updated_by: str
    #: The name of the person or key; null for one without a name, or that is gone.
    updated_by_name: Optional[str]
    docked: int


class WorkbookPlan(TypedDict):
    worlds: List[PlanWorld]


class WorkbookQuery(TypedDict, total=False):
    tenant: str


class WorkbookVersion(TypedDict):
    version: int
    hash: str
    bytes: int
    components: Optional[int]
    problems: int
    created_at: int
    created_by: str
    #: The name of the person or key; null for one without a name, or that is gone.
    created_by_name: Optional[str]


class WorkbookVersionQuery(TypedDict, total=False):
    tenant: str
    version: int


class WorkbookVersionsQuery(TypedDict, total=False):
    tenant: str
    limit: int
    cursor: str


class WorkbooksQuery(TypedDict, total=False):
    tenant: str
    q: str
    limit: int
    cursor: str


class _WorkflowCallAnswerComponentsItemErrorRequired(TypedDict):
    message: str
    kind: Literal[
        "input",
        "output",
        "capability",
        "component",
        "timeout",
        "memory",
        "state",
        "dependency",
    ]


class WorkflowCallAnswerComponentsItemError(_WorkflowCallAnswerComponentsItemErrorRequired, total=False):
    component: str


class _WorkflowCallAnswerComponentsItemRequired(TypedDict):
    path: str
    state: Literal["done", "failed", "skipped"]
    took_ms: float


class WorkflowCallAnswerComponentsItem(_WorkflowCallAnswerComponentsItemRequired, total=False):
    output: Any
    error: WorkflowCallAnswerComponentsItemError
    because: str


class _WorkflowCallAnswerLogsItemRequired(TypedDict):
    stream: Literal["stdout", "stderr", "log"]
    text: str


class WorkflowCallAnswerLogsItem(_WorkflowCallAnswerLogsItemRequired, total=False):
    component: str


class WorkflowCallAnswer(TypedDict):
    outputs: Dict[str, Any]
    components: List[WorkflowCallAnswerComponentsItem]
    logs: List[WorkflowCallAnswerLogsItem]
    timed_out: bool
    took_ms: float
    woke: Literal["hot", "warm", "cold"]


class WorkflowCallInput(TypedDict, total=False):
    #: The inputs by their names.
    input: Dict[str, Any]
    #: Milliseconds of the whole call; more than `WB_MAX_CALL_MS` is refused. One component has no
    #: more of it than an `exec` may ask for.
    timeout_ms: int
    world: str


Restored = Union[Instance, RestoredMoment]
