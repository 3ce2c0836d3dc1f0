"""How each operation is sent and read. Printed by `npm run client:calls`. Not to be written by hand."""

from __future__ import annotations

from typing import Dict

from ._call import CallLine

CALLS: Dict[str, CallLine] = {
    "list_instances": CallLine(
        "GET", "/api/instances", None, True, "page"
    ),
    "create_instance": CallLine(
        "POST", "/api/instances", "json", False, "json"
    ),
    "get_instance": CallLine(
        "GET", "/api/instances/:id", None, False, "json"
    ),
    "patch_instance": CallLine(
        "PATCH", "/api/instances/:id", "json", False, "json"
    ),
    "delete_instance": CallLine(
        "DELETE", "/api/instances/:id", "json", False, "nothing"
    ),
    "resume_instance": CallLine(
        "POST", "/api/instances/:id/resume", "json", False, "json"
    ),
    "prefetch_instance": CallLine(
        "POST", "/api/instances/:id/prefetch", None, False, "json"
    ),
    "settle_instance": CallLine(
        "POST", "/api/instances/:id/settle", None, False, "json"
    ),
    "suspend_instance": CallLine(
        "POST", "/api/instances/:id/suspend", "json", False, "json"
    ),
    "freeze_instance": CallLine(
        "POST", "/api/instances/:id/freeze", "json", False, "json"
    ),
    "archive_instance": CallLine(
        "POST", "/api/instances/:id/archive", "json", False, "json"
    ),
    "revive_instance": CallLine(
        "POST", "/api/instances/:id/revive", "json", False, "json"
    ),
    "exec_in_instance": CallLine(
        "POST", "/api/instances/:id/exec", "json", False, "json"
    ),
    "eval_in_instance": CallLine(
        "POST", "/api/instances/:id/eval", "json", False, "json"
    ),
    "attach_to_instance": CallLine(
        "PUT", "/api/instances/:id/attachments/:attachment", None, False, "json"
    ),
    "detach_from_instance": CallLine(
        "DELETE", "/api/instances/:id/attachments/:attachment", None, False, "nothing"
    ),
    "start_run": CallLine(
        "POST", "/api/instances/:id/runs", "json", False, "json"
    ),
    "list_runs": CallLine(
        "GET", "/api/instances/:id/runs", None, True, "page"
    ),
    "get_run": CallLine(
        "GET", "/api/instances/:id/runs/:run", None, False, "json"
    ),
    "get_run_output": CallLine(
        "GET", "/api/instances/:id/runs/:run/output", None, True, "json"
    ),
    "stop_run": CallLine(
        "POST", "/api/instances/:id/runs/:run/stop", None, False, "json"
    ),
    "list_instance_logs": CallLine(
        "GET", "/api/instances/:id/logs", None, True, "page"
    ),
    "list_tenant_logs": CallLine(
        "GET", "/api/tenants/:tenant/logs", None, True, "page"
    ),
    "list_terminals": CallLine(
        "GET", "/api/instances/:id/terminals", None, False, "json"
    ),
    "open_terminal": CallLine(
        "POST", "/api/instances/:id/terminals", None, False, "json"
    ),
    "close_terminal": CallLine(
        "DELETE", "/api/instances/:id/terminals/:terminal", None, False, "nothing"
    ),
    "stream_terminal": CallLine(
        "GET", "/api/instances/:id/terminals/:terminal/stream", None, False, "events"
    ),
    "type_in_terminal": CallLine(
        "POST", "/api/instances/:id/terminals/:terminal/lines", "json", False, "json"
    ),
    "interrupt_terminal": CallLine(
        "POST", "/api/instances/:id/terminals/:terminal/interrupt", None, False, "json"
    ),
    "clear_terminal": CallLine(
        "POST", "/api/instances/:id/terminals/:terminal/clear", None, False, "json"
    ),
    "complete_line": CallLine(
        "POST", "/api/instances/:id/complete", "json", False, "json"
    ),
    "list_moments": CallLine(
        "GET", "/api/instances/:id/moments", None, True, "json"
    ),
    "name_moment": CallLine(
        "PUT", "/api/instances/:id/moments/:name", "json", False, "json"
    ),
    "remove_moment": CallLine(
        "DELETE", "/api/instances/:id/moments/:name", None, False, "nothing"
    ),
    "list_volumes": CallLine(
        "GET", "/api/instances/:id/volumes", None, True, "json"
    ),
    "list_files": CallLine(
        "GET", "/api/instances/:id/volumes/:volume", None, True, "page"
    ),
    "list_folder": CallLine(
        "GET", "/api/instances/:id/folders/:volume", None, True, "page"
    ),
    "compare": CallLine(
        "GET", "/api/instances/:id/compare/:volume", None, True, "json"
    ),
    "list_tables": CallLine(
        "GET", "/api/instances/:id/tables/:volume", None, True, "json"
    ),
    "list_rows": CallLine(
        "GET", "/api/instances/:id/rows/:volume", None, True, "json"
    ),
    "make_folder": CallLine(
        "POST", "/api/instances/:id/folders/:volume", "json", False, "nothing"
    ),
    "delete_folder": CallLine(
        "DELETE", "/api/instances/:id/folders/:volume", None, True, "nothing"
    ),
    "get_file": CallLine(
        "GET", "/api/instances/:id/volumes/:volume/*", None, True, "download"
    ),
    "put_file": CallLine(
        "PUT", "/api/instances/:id/volumes/:volume/*", "bytes", False, "written"
    ),
    "delete_file": CallLine(
        "DELETE", "/api/instances/:id/volumes/:volume/*", None, False, "nothing"
    ),
    "move_file": CallLine(
        "POST", "/api/instances/:id/volumes/:volume/move", "json", False, "nothing"
    ),
    "take_back": CallLine(
        "POST", "/api/instances/:id/volumes/:volume/take-back", "json", False, "json"
    ),
    "search_files": CallLine(
        "GET", "/api/instances/:id/search", None, True, "page"
    ),
    "query_files": CallLine(
        "POST", "/api/instances/:id/query", "json", True, "json"
    ),
    "take_snapshot": CallLine(
        "POST", "/api/instances/:id/snapshots", "json", False, "json"
    ),
    "list_snapshots": CallLine(
        "GET", "/api/snapshots", None, True, "page"
    ),
    "get_snapshot": CallLine(
        "GET", "/api/snapshots/:id", None, False, "json"
    ),
    "delete_snapshot": CallLine(
        "DELETE", "/api/snapshots/:id", None, False, "nothing"
    ),
    "restore_snapshot": CallLine(
        "POST", "/api/snapshots/:id/restore", "json", False, "json"
    ),
    "create_blueprint": CallLine(
        "POST", "/api/blueprints", "either", True, "json"
    ),
    "list_blueprints": CallLine(
        "GET", "/api/blueprints", None, True, "page"
    ),
    "get_blueprint": CallLine(
        "GET", "/api/blueprints/:name", None, False, "json"
    ),
    "delete_blueprint": CallLine(
        "DELETE", "/api/blueprints/:name", None, False, "nothing"
    ),
    "clone_blueprint": CallLine(
        "POST", "/api/blueprints/:name/clone", "json", False, "json"
    ),
    "get_instance_lineage": CallLine(
        "GET", "/api/instances/:id/lineage", None, False, "json"
    ),
    "get_snapshot_lineage": CallLine(
        "GET", "/api/snapshots/:id/lineage", None, False, "json"
    ),
    "get_blueprint_lineage": CallLine(
        "GET", "/api/blueprints/:name/lineage", None, False, "json"
    ),
    "ship_instance": CallLine(
        "POST", "/api/instances/:id/ship", "json", False, "download"
    ),
    "checkout_instance": CallLine(
        "GET", "/api/instances/:id/checkout", None, True, "download"
    ),
    "list_instance_shares": CallLine(
        "GET", "/api/instances/:id/shares", None, True, "page"
    ),
    "list_shares": CallLine(
        "GET", "/api/shares", None, True, "page"
    ),
    "inspect_bundle": CallLine(
        "POST", "/api/bundles/inspect", "bytes", False, "json"
    ),
    "import_bundle": CallLine(
        "POST", "/api/instances/import", "bytes", True, "json"
    ),
    "list_workbooks": CallLine(
        "GET", "/api/workbooks", None, True, "page"
    ),
    "plan_source": CallLine(
        "POST", "/api/workbooks/plan", "bytes", False, "json"
    ),
    "get_workbook": CallLine(
        "GET", "/api/workbooks/:id", None, True, "download"
    ),
    "put_workbook": CallLine(
        "PUT", "/api/workbooks/:id", "bytes", True, "json"
    ),
    "delete_workbook": CallLine(
        "DELETE", "/api/workbooks/:id", None, True, "nothing"
    ),
    "get_workbook_plan": CallLine(
        "GET", "/api/workbooks/:id/plan", None, True, "json"
    ),
    "list_workbook_versions": CallLine(
        "GET", "/api/workbooks/:id/versions", None, True, "page"
    ),
    "check_workbook_upgrade": CallLine(
        "GET", "/api/workbooks/:id/upgrade", None, True, "json"
    ),
    "call_component": CallLine(
        "POST", "/api/instances/:id/call/:component", "json", False, "json"
    ),
    "call_workflow": CallLine(
        "POST", "/api/instances/:id/call", "json", False, "json"
    ),
    "raw_instance": CallLine(
        "GET", "/api/instances/:id/raw", None, True, "download"
    ),
    "salvage_instance": CallLine(
        "POST", "/api/instances/:id/salvage", "json", False, "json"
    ),
    "restore_instance": CallLine(
        "POST", "/api/instances/:id/restore", "json", False, "json"
    ),
    "undo_restore": CallLine(
        "POST", "/api/instances/:id/undo", "json", False, "json"
    ),
    "instance_from_moment": CallLine(
        "POST", "/api/instances/:id/from-moment", "json", False, "json"
    ),
    "get_plan": CallLine(
        "GET", "/api/instances/:id/plan", None, True, "json"
    ),
    "walk_plan": CallLine(
        "POST", "/api/instances/:id/plan", "json", False, "json"
    ),
    "start_job": CallLine(
        "POST", "/api/jobs", "json", False, "json"
    ),
    "list_jobs": CallLine(
        "GET", "/api/jobs", None, True, "page"
    ),
    "get_job": CallLine(
        "GET", "/api/jobs/:id", None, False, "json"
    ),
    "cancel_job": CallLine(
        "DELETE", "/api/jobs/:id", None, False, "json"
    ),
    "list_job_results": CallLine(
        "GET", "/api/jobs/:id/results", None, True, "page"
    ),
    "list_schedules": CallLine(
        "GET", "/api/instances/:id/schedules", None, True, "page"
    ),
    "create_schedule": CallLine(
        "POST", "/api/instances/:id/schedules", "json", False, "json"
    ),
    "get_schedule": CallLine(
        "GET", "/api/instances/:id/schedules/:schedule", None, False, "json"
    ),
    "patch_schedule": CallLine(
        "PATCH", "/api/instances/:id/schedules/:schedule", "json", False, "json"
    ),
    "delete_schedule": CallLine(
        "DELETE", "/api/instances/:id/schedules/:schedule", None, False, "nothing"
    ),
    "run_schedule": CallLine(
        "POST", "/api/instances/:id/schedules/:schedule/run", None, False, "json"
    ),
    "list_schedule_runs": CallLine(
        "GET", "/api/instances/:id/schedules/:schedule/runs", None, True, "page"
    ),
    "list_tenants": CallLine(
        "GET", "/api/tenants", None, True, "page"
    ),
    "get_tenant": CallLine(
        "GET", "/api/tenants/:tenant", None, False, "json"
    ),
    "patch_tenant": CallLine(
        "PATCH", "/api/tenants/:tenant", "json", False, "json"
    ),
    "forget_tenant": CallLine(
        "DELETE", "/api/tenants/:tenant", "json", False, "json"
    ),
    "wake_times": CallLine(
        "GET", "/api/metrics/wakes", None, True, "json"
    ),
    "preview_thresholds": CallLine(
        "POST", "/api/settings/preview", "json", False, "json"
    ),
    "simulate": CallLine(
        "POST", "/api/settings/simulate", "json", False, "json"
    ),
    "instance_env": CallLine(
        "GET", "/api/instances/:id/env", None, False, "json"
    ),
    "patch_instance_env": CallLine(
        "PATCH", "/api/instances/:id/env", "json", False, "json"
    ),
    "tenant_env": CallLine(
        "GET", "/api/tenants/:tenant/env", None, False, "json"
    ),
    "patch_tenant_env": CallLine(
        "PATCH", "/api/tenants/:tenant/env", "json", False, "json"
    ),
    "blueprint_env": CallLine(
        "GET", "/api/blueprints/:name/env", None, False, "json"
    ),
    "patch_blueprint_env": CallLine(
        "PATCH", "/api/blueprints/:name/env", "json", False, "json"
    ),
    "instance_secrets": CallLine(
        "GET", "/api/instances/:id/secrets", None, False, "json"
    ),
    "set_instance_secret": CallLine(
        "PUT", "/api/instances/:id/secrets/:name", "json", False, "json"
    ),
    "delete_instance_secret": CallLine(
        "DELETE", "/api/instances/:id/secrets/:name", None, False, "nothing"
    ),
    "tenant_secrets": CallLine(
        "GET", "/api/tenants/:tenant/secrets", None, False, "json"
    ),
    "set_tenant_secret": CallLine(
        "PUT", "/api/tenants/:tenant/secrets/:name", "json", False, "json"
    ),
    "delete_tenant_secret": CallLine(
        "DELETE", "/api/tenants/:tenant/secrets/:name", None, False, "nothing"
    ),
    "instance_usage": CallLine(
        "GET", "/api/instances/:id/usage", None, True, "json"
    ),
    "instance_life": CallLine(
        "GET", "/api/instances/:id/life", None, True, "json"
    ),
    "tenant_usage": CallLine(
        "GET", "/api/tenants/:tenant/usage", None, True, "json"
    ),
    "server_usage": CallLine(
        "GET", "/api/usage", None, True, "json"
    ),
    "instance_load": CallLine(
        "GET", "/api/instances/:id/load", None, True, "json"
    ),
    "export_instance_load": CallLine(
        "GET", "/api/instances/:id/load/export", None, True, "download"
    ),
    "tenant_load": CallLine(
        "GET", "/api/tenants/:tenant/load", None, True, "json"
    ),
    "export_tenant_load": CallLine(
        "GET", "/api/tenants/:tenant/load/export", None, True, "download"
    ),
    "server_load": CallLine(
        "GET", "/api/load", None, True, "json"
    ),
    "export_server_load": CallLine(
        "GET", "/api/load/export", None, True, "download"
    ),
    "list_instance_events": CallLine(
        "GET", "/api/instances/:id/events", None, True, "page"
    ),
    "list_events": CallLine(
        "GET", "/api/events", None, True, "page"
    ),
    "stream_events": CallLine(
        "GET", "/api/events/stream", None, True, "events"
    ),
    "export_events": CallLine(
        "GET", "/api/events/export", None, True, "download"
    ),
    "get_ledger_head": CallLine(
        "GET", "/api/events/head", None, False, "json"
    ),
    "verify_ledger": CallLine(
        "GET", "/api/events/verify", None, False, "json"
    ),
    "list_ledger_segments": CallLine(
        "GET", "/api/events/segments", None, False, "json"
    ),
    "export_ledger_segment": CallLine(
        "GET", "/api/events/segments/:id", None, False, "download"
    ),
    "me": CallLine(
        "GET", "/api/me", None, False, "json"
    ),
    "change_password": CallLine(
        "PUT", "/api/me/password", "json", False, "nothing"
    ),
    "people": CallLine(
        "GET", "/api/people", None, False, "json"
    ),
    "invitations": CallLine(
        "GET", "/api/people/invitations", None, False, "json"
    ),
    "invite": CallLine(
        "POST", "/api/people/invitations", "json", False, "json"
    ),
    "withdraw_invitation": CallLine(
        "DELETE", "/api/people/invitations/:id", None, False, "nothing"
    ),
    "patch_person": CallLine(
        "PATCH", "/api/people/:id", "json", False, "json"
    ),
    "sessions_of": CallLine(
        "GET", "/api/people/:id/sessions", None, False, "json"
    ),
    "end_session": CallLine(
        "DELETE", "/api/people/:id/sessions", None, True, "nothing"
    ),
    "list_keys": CallLine(
        "GET", "/api/keys", None, False, "json"
    ),
    "create_key": CallLine(
        "POST", "/api/keys", "json", False, "json"
    ),
    "revoke_key": CallLine(
        "DELETE", "/api/keys/:id", None, False, "nothing"
    ),
    "list_webhooks": CallLine(
        "GET", "/api/webhooks", None, True, "json"
    ),
    "create_webhook": CallLine(
        "POST", "/api/webhooks", "json", False, "json"
    ),
    "get_webhook": CallLine(
        "GET", "/api/webhooks/:id", None, False, "json"
    ),
    "patch_webhook": CallLine(
        "PATCH", "/api/webhooks/:id", "json", False, "json"
    ),
    "delete_webhook": CallLine(
        "DELETE", "/api/webhooks/:id", None, False, "nothing"
    ),
    "rotate_webhook_secret": CallLine(
        "POST", "/api/webhooks/:id/rotate", None, False, "json"
    ),
    "test_webhook": CallLine(
        "POST", "/api/webhooks/:id/test", None, False, "json"
    ),
    "list_webhook_deliveries": CallLine(
        "GET", "/api/webhooks/:id/deliveries", None, True, "page"
    ),
    "resend_delivery": CallLine(
        "POST", "/api/webhooks/:id/deliveries/:delivery/resend", None, False, "json"
    ),
    "instance_network": CallLine(
        "GET", "/api/instances/:id/network", None, False, "json"
    ),
    "put_instance_network": CallLine(
        "PUT", "/api/instances/:id/network", "json", False, "json"
    ),
    "tenant_network": CallLine(
        "GET", "/api/tenants/:tenant/network", None, False, "json"
    ),
    "put_tenant_network": CallLine(
        "PUT", "/api/tenants/:tenant/network", "json", False, "json"
    ),
    "send_mcp_message": CallLine(
        "POST", "/api/mcp", "json", False, "json"
    ),
    "storage": CallLine(
        "GET", "/api/settings/storage", None, False, "json"
    ),
    "check_storage": CallLine(
        "POST", "/api/settings/storage/check", "json", False, "json"
    ),
    "list_backups": CallLine(
        "GET", "/api/backups", None, True, "page"
    ),
    "make_backup": CallLine(
        "POST", "/api/backups", "json", False, "json"
    ),
    "get_backup": CallLine(
        "GET", "/api/backups/:id", None, False, "json"
    ),
    "verify_backup": CallLine(
        "POST", "/api/backups/:id/verify", None, False, "json"
    ),
    "restore_backup": CallLine(
        "POST", "/api/backups/:id/restore", "json", False, "json"
    ),
    "backup_settings": CallLine(
        "GET", "/api/settings/backups", None, False, "json"
    ),
    "put_backup_settings": CallLine(
        "PUT", "/api/settings/backups", "json", False, "json"
    ),
    "attention": CallLine(
        "GET", "/api/attention", None, True, "json"
    ),
    "acknowledge": CallLine(
        "POST", "/api/attention/:id/acknowledge", "json", False, "json"
    ),
    "unacknowledge": CallLine(
        "DELETE", "/api/attention/:id/acknowledge", None, False, "nothing"
    ),
    "list_hosts": CallLine(
        "GET", "/api/hosts", None, False, "json"
    ),
    "get_host": CallLine(
        "GET", "/api/hosts/:name", None, False, "json"
    ),
    "patch_host": CallLine(
        "PATCH", "/api/hosts/:name", "json", False, "json"
    ),
    "drain_host": CallLine(
        "POST", "/api/hosts/:name/drain", "json", False, "json"
    ),
    "stop_draining": CallLine(
        "DELETE", "/api/hosts/:name/drain", None, False, "json"
    ),
    "get_settings": CallLine(
        "GET", "/api/settings", None, False, "json"
    ),
    "patch_settings": CallLine(
        "PATCH", "/api/settings", "json", False, "json"
    ),
    "health": CallLine(
        "GET", "/healthz", None, False, "json"
    ),
    "readiness": CallLine(
        "GET", "/readyz", None, False, "json"
    ),
    "metrics": CallLine(
        "GET", "/metrics", None, False, "text"
    ),
    "openapi": CallLine(
        "GET", "/openapi.json", None, False, "json"
    ),
}
