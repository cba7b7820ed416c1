// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

// A contract that passes coins on.
contract Purse {
    receive() external payable {}

    function pay(address payable[] calldata to, uint256[] calldata value) external payable {
        for (uint256 i = 0; i < to.length; i++) {
            (bool ok, ) = to[i].call{value: value[i]}("");
            require(ok);
        }
    }

    // Pays and then fails: nothing is delivered.
    function payAndFail(address payable to) external payable {
        (bool ok, ) = to.call{value: msg.value}("");
        require(!ok, "after the payment");
    }

    // Lets a call below it pay and fail, and succeeds itself.
    function payBelowFailure(address payable to) external payable {
        try this.payAndFail{value: msg.value}(to) {} catch {}
    }
}
