ALTER TABLE `snapshots` ADD `moment_ms` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `snapshots_by_moment` ON `snapshots` (`source`,`tag`) WHERE deleted is null and moment_ms is not null;--> statement-breakpoint
CREATE TRIGGER moments_of_deleted AFTER UPDATE OF state ON instances
WHEN new.state = 'deleted' AND old.state <> 'deleted' BEGIN
	INSERT INTO unclaimed_files (path)
		SELECT DISTINCT 'snapshots/' || hash || '.sqlite' FROM snapshots
		WHERE source = new.id AND moment_ms IS NOT NULL AND deleted IS NULL
		ON CONFLICT (path) DO NOTHING;
	UPDATE snapshots SET deleted = new.state_since
		WHERE source = new.id AND moment_ms IS NOT NULL AND deleted IS NULL;
END;
