<?php

declare(strict_types=1);

namespace Bursar\WooCommerce;

use RuntimeException;

/** Lets one process at a time work on an order: two webhooks, or a webhook and a refund, may come together. */
final class Lock
{
    private const SECONDS = 10;

    /**
     * Calls act with the order's lock held, or throws a RuntimeException if another process has it for long.
     *
     * @template T
     * @param callable(): T $act
     * @return T
     */
    public static function around(int $order, callable $act)
    {
        global $wpdb;
        $name = substr(hash('sha256', DB_NAME . $wpdb->prefix), 0, 16) . "-bursar-$order"; // locks are the server's
        if ($wpdb->get_var($wpdb->prepare('SELECT GET_LOCK(%s, %d)', $name, self::SECONDS)) !== '1') {
            throw new RuntimeException("another process works on order $order");
        }
        try {
            return $act();
        } finally {
            $wpdb->query($wpdb->prepare('SELECT RELEASE_LOCK(%s)', $name));
        }
    }
}
