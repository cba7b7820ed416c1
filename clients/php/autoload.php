<?php

declare(strict_types=1);

// Loads the classes of this folder without Composer: require __DIR__ . '/clients/php/autoload.php';
spl_autoload_register(static function (string $class): void {
    $parts = explode('\\', $class);
    if (count($parts) === 2 && $parts[0] === 'Bursar' && is_file(__DIR__ . "/src/$parts[1].php")) {
        require __DIR__ . "/src/$parts[1].php";
    }
});
