// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

// A token for tests. Whoever asks is given what is asked for.
contract Token {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Unindexed(address from, address to, uint256 value);

    uint8 public immutable decimals;
    mapping(address => uint256) public balanceOf;

    constructor(uint8 places) {
        decimals = places;
    }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    // Like USDT on Ethereum, it returns nothing.
    function transfer(address to, uint256 value) external {
        move(msg.sender, to, value);
    }

    // Anyone may move nothing in anyone's name, as with real tokens.
    function transferFrom(address from, address to, uint256 value) external {
        require(from == msg.sender || value == 0);
        move(from, to, value);
    }

    // Several transfers in one transaction.
    function transferMany(address[] calldata to, uint256[] calldata value) external {
        for (uint256 i = 0; i < to.length; i++) move(msg.sender, to[i], value[i]);
    }

    function move(address from, address to, uint256 value) private {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }

    // Events under the same first topic that are no ERC-20 transfers.
    function odd(address to) external {
        bytes32 topic = keccak256("Transfer(address,address,uint256)");
        bytes32 receiver = bytes32(uint256(uint160(to)));
        assembly {
            mstore(0, 1000)
            log4(0, 0, topic, 0, receiver, 1000)
            log2(0, 32, topic, receiver)
            log3(0, 0, topic, 0, receiver)
            log1(0, 32, topic)
        }
    }
}
