ALTER TABLE `instances` ADD `series_term` integer;--> statement-breakpoint
ALTER TABLE `instances` ADD `series_host_term` integer;