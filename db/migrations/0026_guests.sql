CREATE TABLE `environments` (
	`kind` text NOT NULL,
	`owner` text NOT NULL,
	`tenant` text,
	`variables` text NOT NULL,
	`updated` integer NOT NULL,
	`updated_by` text NOT NULL,
	PRIMARY KEY(`kind`, `owner`)
);
--> statement-breakpoint
CREATE INDEX `environments_by_tenant` ON `environments` (`tenant`);--> statement-breakpoint
CREATE TABLE `secrets` (
	`tenant` text NOT NULL,
	`instance` text NOT NULL,
	`name` text NOT NULL,
	`url` text NOT NULL,
	`header` text NOT NULL,
	`format` text NOT NULL,
	`sealed` text NOT NULL,
	`created` integer NOT NULL,
	`created_by` text NOT NULL,
	`updated` integer NOT NULL,
	`updated_by` text NOT NULL,
	`last_used` integer,
	PRIMARY KEY(`tenant`, `instance`, `name`)
);

--> statement-breakpoint
CREATE TRIGGER environments_not_of_forgotten BEFORE INSERT ON environments
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER secrets_not_of_forgotten BEFORE INSERT ON secrets
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER guests_of_deleted AFTER UPDATE OF state ON instances
WHEN new.state = 'deleted' AND old.state <> 'deleted' BEGIN
	DELETE FROM environments WHERE kind = 'instance' AND owner = new.id;
	DELETE FROM secrets WHERE tenant = new.tenant AND instance = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER environments_of_blueprint AFTER DELETE ON blueprints BEGIN
	DELETE FROM environments WHERE kind = 'blueprint' AND owner = old.name;
END;
--> statement-breakpoint
CREATE TRIGGER environments_of_snapshot AFTER UPDATE OF deleted ON snapshots
WHEN new.deleted IS NOT NULL BEGIN
	DELETE FROM environments WHERE kind = 'snapshot' AND owner = new.id;
END;
