DROP INDEX `labels_by_updated`;--> statement-breakpoint
ALTER TABLE `labels` ADD `tenant` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `labels` ADD `state` text DEFAULT 'created' NOT NULL;--> statement-breakpoint
UPDATE labels SET tenant = its.tenant, state = its.state FROM instances AS its WHERE its.rowid = labels.instance_row;
--> statement-breakpoint
CREATE INDEX `labels_by_updated` ON `labels` (`key`,`value`,`updated`,`instance_row`,`tenant`,`state`);
--> statement-breakpoint
DROP TRIGGER instances_inserted;
--> statement-breakpoint
CREATE TRIGGER instances_inserted AFTER INSERT ON instances BEGIN
	INSERT INTO counts_by_state(state, n) VALUES (new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
	INSERT INTO counts_by_tenant(tenant, state, n) VALUES (new.tenant, new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
	INSERT INTO counts_by_fault(fault, n) SELECT new.fault, 1 WHERE new.fault IS NOT NULL AND new.tombstone = 0
		ON CONFLICT DO UPDATE SET n = n + 1;
	INSERT INTO labels(instance_row, key, value, updated, created, name_key, bytes_key, tenant, state)
		SELECT new.rowid, entry.key, entry.value, new.updated, new.created, new.name_key, new.bytes_key, new.tenant, new.state
		FROM json_each(new.labels) AS entry WHERE new.tombstone = 0;
	INSERT INTO instance_text(rowid, words) SELECT new.rowid, new.words WHERE new.tombstone = 0;
END;
--> statement-breakpoint
DROP TRIGGER instances_touched;
--> statement-breakpoint
CREATE TRIGGER instances_touched AFTER UPDATE OF updated, state ON instances
WHEN old.updated IS NOT new.updated OR old.state IS NOT new.state BEGIN
	UPDATE labels SET updated = new.updated, state = new.state WHERE instance_row = new.rowid;
END;
--> statement-breakpoint
DROP TRIGGER instances_labelled;
--> statement-breakpoint
CREATE TRIGGER instances_labelled AFTER UPDATE OF labels ON instances
WHEN old.labels IS NOT new.labels AND new.tombstone = 0 BEGIN
	DELETE FROM labels WHERE instance_row = new.rowid;
	INSERT INTO labels(instance_row, key, value, updated, created, name_key, bytes_key, tenant, state)
		SELECT new.rowid, entry.key, entry.value, new.updated, new.created, new.name_key, new.bytes_key, new.tenant, new.state
		FROM json_each(new.labels) AS entry;
END;
