CREATE TABLE `schedule_syncs` (
	`instance` text PRIMARY KEY NOT NULL
);

--> statement-breakpoint
INSERT INTO schedule_syncs(instance) SELECT id FROM instances WHERE workbook_version IS NOT NULL AND tombstone = 0;
--> statement-breakpoint
CREATE TRIGGER schedules_of_created AFTER INSERT ON instances WHEN new.workbook_version IS NOT NULL BEGIN
	INSERT OR IGNORE INTO schedule_syncs(instance) VALUES (new.id);
END;
--> statement-breakpoint
CREATE TRIGGER schedules_of_docked AFTER UPDATE OF workbook, workbook_version ON instances
WHEN new.tombstone = 0 AND (old.workbook IS NOT new.workbook OR old.workbook_version IS NOT new.workbook_version) BEGIN
	INSERT OR IGNORE INTO schedule_syncs(instance) VALUES (new.id);
END;
--> statement-breakpoint
CREATE TRIGGER schedules_not_synced AFTER UPDATE OF state ON instances
WHEN new.state = 'deleted' AND old.state <> 'deleted' BEGIN
	DELETE FROM schedule_syncs WHERE instance = new.id;
END;
