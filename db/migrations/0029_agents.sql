CREATE TABLE `agents` (
	`tenant` text NOT NULL,
	`name` text NOT NULL,
	`id` text NOT NULL,
	`version` integer NOT NULL,
	`snapshot` text,
	`making` text,
	`replaced` text,
	`description` text,
	`model` text,
	`env` text NOT NULL,
	`created` integer NOT NULL,
	`updated` integer NOT NULL,
	`updated_by` text NOT NULL,
	PRIMARY KEY(`tenant`, `name`)
);
