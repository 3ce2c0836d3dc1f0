ALTER TABLE `schedules` ADD `timeout_ms` integer;--> statement-breakpoint
ALTER TABLE `workbook_versions` ADD `builder` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `workbook_versions` ADD `schedules` integer DEFAULT 0 NOT NULL;