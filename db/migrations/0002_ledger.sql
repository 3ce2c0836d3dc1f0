CREATE TABLE `ledger_segments` (
	`id` text PRIMARY KEY NOT NULL,
	`first_seq` integer NOT NULL,
	`last_seq` integer NOT NULL,
	`lines` integer NOT NULL,
	`previous_hash` text NOT NULL,
	`first_hash` text NOT NULL,
	`last_hash` text NOT NULL,
	`sealed_ms` integer NOT NULL,
	`issuer` text NOT NULL,
	`signature` text NOT NULL,
	`exported_ms` integer,
	`dropped_ms` integer,
	`drop_signature` text
);
--> statement-breakpoint
ALTER TABLE `events` ADD `address` text;--> statement-breakpoint
ALTER TABLE `events` ADD `hash` text;--> statement-breakpoint
DROP TRIGGER events_not_changed;
--> statement-breakpoint
CREATE TRIGGER events_not_changed BEFORE UPDATE ON events
WHEN old.hash IS NOT NULL OR new.hash IS NULL
	OR (old.seq, old.time_ms, old.instance, old.tenant, old.type, old."from", old."to", old."trigger", old.actor, old.via,
		old.source, old.took_ms, old.reason, old.error, old.request_id, old.address)
	IS NOT (new.seq, new.time_ms, new.instance, new.tenant, new.type, new."from", new."to", new."trigger", new.actor, new.via,
		new.source, new.took_ms, new.reason, new.error, new.request_id, new.address) BEGIN
	SELECT raise(ABORT, 'the ledger is append-only');
END;
--> statement-breakpoint
DROP TRIGGER events_not_removed;
--> statement-breakpoint
CREATE TRIGGER events_not_removed BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM ledger_segments WHERE dropped_ms IS NOT NULL AND old.seq BETWEEN first_seq AND last_seq) BEGIN
	SELECT raise(ABORT, 'the ledger is append-only');
END;
--> statement-breakpoint
CREATE TRIGGER events_only_appended BEFORE INSERT ON events
WHEN new.hash IS NULL OR new.seq IS NOT 1 + coalesce(
	(SELECT max(seq) FROM events), (SELECT max(last_seq) FROM ledger_segments), 0) BEGIN
	SELECT raise(ABORT, 'the ledger is append-only');
END;
--> statement-breakpoint
CREATE TRIGGER ledger_segments_not_changed BEFORE UPDATE ON ledger_segments
WHEN (old.id, old.first_seq, old.last_seq, old.lines, old.previous_hash, old.first_hash, old.last_hash, old.sealed_ms,
		old.issuer, old.signature)
	IS NOT (new.id, new.first_seq, new.last_seq, new.lines, new.previous_hash, new.first_hash, new.last_hash, new.sealed_ms,
		new.issuer, new.signature)
	OR (old.exported_ms IS NOT NULL AND new.exported_ms IS NOT old.exported_ms)
	OR (old.dropped_ms IS NOT NULL AND (new.dropped_ms, new.drop_signature) IS NOT (old.dropped_ms, old.drop_signature))
	OR (new.dropped_ms IS NOT NULL AND (new.exported_ms IS NULL OR new.drop_signature IS NULL)) BEGIN
	SELECT raise(ABORT, 'a sealed segment is never changed');
END;
--> statement-breakpoint
CREATE TRIGGER ledger_segments_not_removed BEFORE DELETE ON ledger_segments BEGIN
	SELECT raise(ABORT, 'a sealed segment is never removed');
END;
--> statement-breakpoint
CREATE TRIGGER ledger_segments_in_order BEFORE INSERT ON ledger_segments
WHEN new.dropped_ms IS NOT NULL OR new.exported_ms IS NOT NULL OR new.lines IS NOT new.last_seq - new.first_seq + 1
	OR new.first_seq IS NOT 1 + coalesce((SELECT max(last_seq) FROM ledger_segments), 0) BEGIN
	SELECT raise(ABORT, 'segments follow one another');
END;
