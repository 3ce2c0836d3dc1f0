CREATE TABLE `forgettings` (
	`job` text PRIMARY KEY NOT NULL,
	`tenant` text NOT NULL,
	`actor` text NOT NULL,
	`via` text NOT NULL,
	`started` integer NOT NULL,
	`finished` integer,
	`about` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `forgettings_open` ON `forgettings` (`tenant`) WHERE finished is null;--> statement-breakpoint
CREATE INDEX `forgettings_by_tenant` ON `forgettings` (`tenant`,`started`);--> statement-breakpoint
ALTER TABLE `events` ADD `blanked` text;--> statement-breakpoint
CREATE INDEX `events_blanked` ON `events` (`seq`) WHERE blanked is not null;
--> statement-breakpoint
CREATE TRIGGER instances_not_of_forgotten BEFORE INSERT ON instances
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER snapshots_not_of_forgotten BEFORE INSERT ON snapshots
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER blueprints_not_of_forgotten BEFORE INSERT ON blueprints
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER shares_not_of_forgotten BEFORE INSERT ON shares
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER keys_not_of_forgotten BEFORE INSERT ON keys
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER starts_not_of_forgotten BEFORE INSERT ON starts
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER tenants_not_of_forgotten BEFORE INSERT ON tenants
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER tenants_not_set_of_forgotten BEFORE UPDATE ON tenants
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER invitations_not_of_forgotten BEFORE INSERT ON invitations
WHEN EXISTS (SELECT 1 FROM json_each(new.tenants) AS one JOIN forgettings ON forgettings.tenant = one.value AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER user_not_of_forgotten BEFORE INSERT ON user
WHEN EXISTS (SELECT 1 FROM json_each(new.tenants) AS one JOIN forgettings ON forgettings.tenant = one.value AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER user_not_given_forgotten BEFORE UPDATE OF tenants ON user
WHEN EXISTS (SELECT 1 FROM json_each(new.tenants) AS one JOIN forgettings ON forgettings.tenant = one.value AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
DROP TRIGGER shares_not_deleted;
--> statement-breakpoint
CREATE TRIGGER shares_not_deleted BEFORE DELETE ON shares
WHEN NOT EXISTS (SELECT 1 FROM forgettings WHERE tenant = old.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'shares are append-only');
END;
--> statement-breakpoint
DROP TRIGGER events_not_changed;
--> statement-breakpoint
CREATE TRIGGER events_not_changed BEFORE UPDATE ON events
WHEN (old.seq, old.time_ms, old.instance, old.tenant, old.type, old."from", old."to", old."trigger", old.actor, old.via, old.source, old.took_ms)
	IS NOT (new.seq, new.time_ms, new.instance, new.tenant, new.type, new."from", new."to", new."trigger", new.actor, new.via, new.source, new.took_ms)
	OR NOT (
		(old.hash IS NULL AND new.hash IS NOT NULL AND new.blanked IS NULL
			AND (old.reason, old.error, old.request_id, old.address) IS (new.reason, new.error, new.request_id, new.address))
		OR (old.hash IS NOT NULL AND new.hash IS old.hash AND old.blanked IS NULL AND new.blanked IS NOT NULL
			AND (new.reason, new.error, new.request_id, new.address) IS (NULL, NULL, NULL, NULL)
			AND EXISTS (SELECT 1 FROM forgettings WHERE job = new.blanked ->> '$.by' AND finished IS NULL))
	) BEGIN
	SELECT raise(ABORT, 'the ledger is append-only');
END;
--> statement-breakpoint
CREATE TRIGGER forgettings_stay BEFORE DELETE ON forgettings BEGIN
	SELECT raise(ABORT, 'that a tenant was forgotten is never forgotten');
END;
