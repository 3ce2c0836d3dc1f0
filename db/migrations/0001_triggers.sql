CREATE VIRTUAL TABLE instance_text USING fts5(words, content='', contentless_delete=1, detail='none', prefix='1 2 3 4 5 6 7 8 9 10 11 12', tokenize='ascii');
--> statement-breakpoint
CREATE TRIGGER instances_inserted AFTER INSERT ON instances BEGIN
	INSERT INTO counts_by_state(state, n) VALUES (new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
	INSERT INTO counts_by_tenant(tenant, state, n) VALUES (new.tenant, new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
	INSERT INTO counts_by_fault(fault, n) SELECT new.fault, 1 WHERE new.fault IS NOT NULL AND new.tombstone = 0
		ON CONFLICT DO UPDATE SET n = n + 1;
	INSERT INTO labels(instance_row, key, value, updated, created, name_key, bytes_key)
		SELECT new.rowid, entry.key, entry.value, new.updated, new.created, new.name_key, new.bytes_key
		FROM json_each(new.labels) AS entry WHERE new.tombstone = 0;
	INSERT INTO instance_text(rowid, words) SELECT new.rowid, new.words WHERE new.tombstone = 0;
END;
--> statement-breakpoint
CREATE TRIGGER instances_state_changed AFTER UPDATE OF state ON instances WHEN old.state IS NOT new.state BEGIN
	UPDATE counts_by_state SET n = n - 1 WHERE state = old.state;
	INSERT INTO counts_by_state(state, n) VALUES (new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
	UPDATE counts_by_tenant SET n = n - 1 WHERE tenant = old.tenant AND state = old.state;
	INSERT INTO counts_by_tenant(tenant, state, n) VALUES (new.tenant, new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
--> statement-breakpoint
CREATE TRIGGER instances_fault_changed AFTER UPDATE OF fault, tombstone ON instances
WHEN old.fault IS NOT new.fault OR old.tombstone IS NOT new.tombstone BEGIN
	UPDATE counts_by_fault SET n = n - 1 WHERE fault = old.fault AND old.tombstone = 0;
	INSERT INTO counts_by_fault(fault, n) SELECT new.fault, 1 WHERE new.fault IS NOT NULL AND new.tombstone = 0
		ON CONFLICT DO UPDATE SET n = n + 1;
END;
--> statement-breakpoint
CREATE TRIGGER instances_touched AFTER UPDATE OF updated ON instances WHEN old.updated IS NOT new.updated BEGIN
	UPDATE labels SET updated = new.updated WHERE instance_row = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER instances_sized AFTER UPDATE OF bytes ON instances WHEN old.bytes IS NOT new.bytes BEGIN
	UPDATE labels SET bytes_key = new.bytes_key WHERE instance_row = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER instances_named AFTER UPDATE OF name ON instances WHEN old.name IS NOT new.name BEGIN
	UPDATE labels SET name_key = new.name_key WHERE instance_row = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER instances_labelled AFTER UPDATE OF labels ON instances
WHEN old.labels IS NOT new.labels AND new.tombstone = 0 BEGIN
	DELETE FROM labels WHERE instance_row = new.rowid;
	INSERT INTO labels(instance_row, key, value, updated, created, name_key, bytes_key)
		SELECT new.rowid, entry.key, entry.value, new.updated, new.created, new.name_key, new.bytes_key
		FROM json_each(new.labels) AS entry;
END;
--> statement-breakpoint
CREATE TRIGGER instances_worded AFTER UPDATE OF words ON instances
WHEN old.words IS NOT new.words AND new.tombstone = 0 BEGIN
	UPDATE instance_text SET words = new.words WHERE rowid = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER instances_buried AFTER UPDATE OF tombstone ON instances WHEN old.tombstone = 0 AND new.tombstone = 1 BEGIN
	DELETE FROM labels WHERE instance_row = new.rowid;
	DELETE FROM instance_text WHERE rowid = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER instances_stay BEFORE DELETE ON instances BEGIN
	SELECT raise(ABORT, 'a row of instances is never removed: a deleted one stays as a tombstone');
END;
--> statement-breakpoint
CREATE TRIGGER labels_inserted AFTER INSERT ON labels BEGIN
	INSERT INTO counts_by_label(key, value, n) VALUES (new.key, new.value, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
--> statement-breakpoint
CREATE TRIGGER labels_deleted AFTER DELETE ON labels BEGIN
	UPDATE counts_by_label SET n = n - 1 WHERE key = old.key AND value = old.value;
	DELETE FROM counts_by_label WHERE key = old.key AND value = old.value AND n = 0;
END;
--> statement-breakpoint
CREATE TRIGGER events_not_changed BEFORE UPDATE ON events BEGIN
	SELECT raise(ABORT, 'the ledger is append-only');
END;
--> statement-breakpoint
CREATE TRIGGER events_not_removed BEFORE DELETE ON events BEGIN
	SELECT raise(ABORT, 'the ledger is append-only');
END;
