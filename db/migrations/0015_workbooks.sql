CREATE TABLE `workbook_versions` (
	`tenant` text NOT NULL,
	`id` text NOT NULL,
	`version` integer NOT NULL,
	`title` text,
	`hash` text NOT NULL,
	`bytes` integer NOT NULL,
	`components` integer,
	`problems` integer NOT NULL,
	`created` integer NOT NULL,
	`created_by` text NOT NULL,
	`source` text NOT NULL,
	`plan` text,
	`problem_list` text NOT NULL,
	PRIMARY KEY(`tenant`, `id`, `version`)
);
--> statement-breakpoint
CREATE TABLE `workbooks` (
	`tenant` text NOT NULL,
	`id` text NOT NULL,
	`title` text,
	`version` integer NOT NULL,
	`hash` text NOT NULL,
	`bytes` integer NOT NULL,
	`components` integer,
	`problems` integer NOT NULL,
	`created` integer NOT NULL,
	`updated` integer NOT NULL,
	`updated_by` text NOT NULL,
	PRIMARY KEY(`tenant`, `id`)
);
--> statement-breakpoint
CREATE INDEX `workbooks_by_id` ON `workbooks` (`id`,`tenant`);--> statement-breakpoint
ALTER TABLE `instances` ADD `workbook_version` integer;--> statement-breakpoint
CREATE INDEX `instances_by_workbook` ON `instances` (`tenant`,`workbook`,`workbook_version`) WHERE workbook is not null and tombstone = 0;
--> statement-breakpoint
CREATE TRIGGER workbooks_not_of_forgotten BEFORE INSERT ON workbooks
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
--> statement-breakpoint
CREATE TRIGGER workbook_versions_not_of_forgotten BEFORE INSERT ON workbook_versions
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
